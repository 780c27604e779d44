package review

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

const tooSmall = "the window is too small to review"

// View draws the title, the changes with the list of files beside or in place of them, and the
// keys. It records which lines of the changes it drew.
func (v *View) View(width, height int) ([]string, *tea.Cursor) {
	if height < 4 {
		return []string{ui.Fit(" "+tooSmall, width)}, nil
	}
	rows, beside := height-v.content.headRows()-1, width
	v.split = width >= minSplitWidth && v.content.hasFiles()
	if v.split {
		beside = width - filesWidth - 3
	}
	v.body.list.Resize(beside, rows)
	var lines []string
	switch {
	case v.split:
		side := "  "
		if !v.styles.Grounds() {
			side = v.styles.Dim.Render("│") + " "
		}
		files := v.files.lines(v.body.currentFile(), filesWidth, rows)
		for i, line := range v.body.lines() {
			lines = append(lines, files[i]+" "+side+line)
		}
	case v.files.focused:
		lines = v.files.lines(v.body.currentFile(), width, rows)
	default:
		lines = v.body.lines()
	}
	out := []string{v.content.titleLine(v.styles, v.title, width)}
	if v.content.hasFiles() {
		out = append(out, v.body.fileLine(width))
	}
	last, cursor := v.lastLine(width, height-1)
	return append(append(out, lines...), last), cursor
}

// lastLine draws the text field that has the keys, the message of the last key, or the keys that act.
func (v *View) lastLine(width, y int) (string, *tea.Cursor) {
	hint, back := "", "back"
	switch {
	case v.comment.active():
		return v.comment.line(width, y)
	case v.search.Typing():
		return v.search.Line(width, y)
	case v.message != "":
		return v.styles.Warning.Render(ui.Fit(" "+v.message, width)), nil
	case v.search.Active():
		hint = v.styles.Keys.Hint(keymap.NextMatch, "next", keymap.PreviousMatch, "previous", keymap.ListFind, "find")
		back = "close search"
	case v.files.focused:
		hint, back = v.styles.Keys.Hint(keymap.Choose, "open"), "changes"
	default:
		hint = v.body.hint()
	}
	return v.styles.HintRow(hint, v.styles.Keys.Hint(keymap.Back, back), width), nil
}
