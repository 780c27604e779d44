package review

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// View draws the title, the changes with the list of files beside or in place of them, and the
// keys. It records which lines of the changes it drew.
func (v *View) View(width, height int) ([]string, *tea.Cursor) {
	if height < 4 {
		return []string{ui.Fit(" "+tooSmall, width)}, nil
	}
	rows := height - 3
	v.width = width
	v.list.Resize(v.widthBeside(width), rows)
	var body []string
	switch {
	case width >= minSplitWidth:
		side := v.styles.Dim.Render("│") + " "
		files := v.filesView(filesWidth, rows)
		for i, line := range v.bodyLines() {
			body = append(body, files[i]+" "+side+line)
		}
	case v.files.focused:
		body = v.filesView(width, rows)
	default:
		body = v.bodyLines()
	}
	out := append([]string{v.titleLine(width), v.fileRule(width)}, body...)
	if v.input != nil {
		label := " comment on " + v.place.String() + ": "
		if ansi.StringWidth(label) > width/2 {
			label = " comment: "
		}
		return append(out, v.styles.InputLine(label, v.input, width)), ui.InputCursor(label, v.input, height-1)
	}
	if v.search.input != nil {
		return append(out, v.styles.InputLine(searchLabel, v.search.input, width)),
			ui.InputCursor(searchLabel, v.search.input, height-1)
	}
	return append(out, v.hintLine(width)), nil
}

const tooSmall = "the window is too small to review"

// widthBeside returns the width of the changes in a view.
func (v *View) widthBeside(width int) int {
	if width >= minSplitWidth {
		return width - filesWidth - 3
	}
	return width
}

// bodyWidth returns the width of the changes.
func (v *View) bodyWidth() int { return v.list.Width() }

// bodyLines draws the window of the changes, with the current line marked.
func (v *View) bodyLines() []string {
	v.current = v.list.MovePoint(v.current, 0)
	v.list.SetRangeHighlight(v.current, v.current, func(line string) string {
		return v.styles.Selected.Render(ui.Pad(ansi.Strip(line), v.bodyWidth()))
	})
	lines := v.list.Lines()
	v.list.VisitVisible(func(id transcript.ID, from, to int) {
		if piece := int(id - v.first()); piece >= 0 {
			v.items[piece].markDrawn(v.bodyWidth(), from, to)
		} else {
			v.content.Head.Shown(v.bodyWidth(), from, to)
		}
	})
	return lines
}

// titleLine draws the title and how much was read.
func (v *View) titleLine(width int) string {
	right := ""
	if v.content.Unread {
		switch n := v.content.Changes.UnseenFiles(); n {
		case 0:
			right = "all files read "
		default:
			right = format.Count(n, "file") + " not read "
		}
	}
	left := " " + v.title + keymap.Separator + v.content.Changes.Summary()
	return v.styles.Selected.Render(ui.Pad(ui.Spread(left, right, width), width))
}

// fileRule draws a line with the current file.
func (v *View) fileRule(width int) string {
	files := v.content.Changes.Files()
	if v.currentPiece() < 0 || len(files) == 0 {
		return v.styles.Rule("the request", width)
	}
	at := v.currentFile()
	f := files[at]
	left := fmt.Sprintf("file %d of %d ", at+1, len(files))
	right := " " + statOf(f)
	if n := v.content.Changes.Unseen(at); n > 0 && v.content.Unread {
		right += keymap.Separator + "not read"
	}
	room := max(1, width-4-ansi.StringWidth(left+gutter+right))
	return v.styles.Rule(left+v.styles.Dim.Render(gutter)+ui.FitLeft(format.JoinLines(f.Path()), room)+right, width)
}

// hintLine draws the keys that work, or the message of the last key.
func (v *View) hintLine(width int) string {
	if v.message != "" {
		return v.styles.Warning.Render(ui.Fit(" "+v.message, width))
	}
	keys := v.styles.Keys
	var hint string
	switch {
	case v.search.query != nil:
		hint = v.searchHint()
	case v.files.focused:
		pairs := []any{keymap.Choose, "open"}
		if v.content.Comments != nil && v.content.Comments.Len() > 0 {
			pairs = append(pairs, keymap.ReviewComment, "edit comment", keymap.ReviewRemove, "remove it")
		}
		hint = keys.Hint(append(pairs, keymap.Back, "back to the changes")...)
	default:
		pairs := []any{keymap.ReviewPageDown, "page", keymap.ReviewNextHunk, "hunk", keymap.ReviewNextFile, "file"}
		if v.content.Comments != nil {
			pairs = append(pairs, keymap.ReviewComment, "comment")
		}
		pairs = append(pairs, keymap.ReviewFiles, "files")
		if v.content.Unread {
			pairs = append(pairs, keymap.ReviewUnread, "unread")
		}
		pairs = append(pairs, keymap.Back, "back", keymap.ReviewFind, "find")
		if v.content.Comments != nil && v.content.Comments.Len() > 0 {
			pairs = append(pairs, keymap.ReviewCopy, "copy comments", keymap.ReviewRemove, "remove")
		}
		layout := "side by side"
		if v.styles.SideBySide(v.bodyWidth()) {
			layout = "one column"
		}
		hint = keys.Hint(append(pairs, keymap.ReviewLayout, layout)...)
	}
	return " " + v.styles.Dim.Render(ui.FitHints(hint, width-1))
}
