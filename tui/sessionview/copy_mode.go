package sessionview

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// copyMode selects lines of the transcript with the keyboard. While it is active, the transcript is
// pinned: it drops no items.
type copyMode struct {
	active    bool
	cursor    transcript.Point // the line moved by keys
	start     transcript.Point // the other end of the selection
	selecting bool             // start is fixed
	codeItem  transcript.ID    // item whose code was copied last
	codeBlock int              // index of that block in the item
}

// enterCopyMode starts copy mode at the selected item, or at the last line on the screen.
func (p *transcriptPane) enterCopyMode() {
	list := p.view.List
	if list.Len() == 0 {
		return
	}
	at := list.PointAt(list.Height() - 1)
	if id, ok := list.Selected(); ok {
		at = list.BodyStart(id)
	}
	p.view.SetPinned(true)
	p.copyMode.active = true
	p.moveCursor(at)
}

// leaveCopyMode ends copy mode. It does nothing if copy mode is not active.
func (p *transcriptPane) leaveCopyMode() {
	p.copyMode.active, p.copyMode.selecting = false, false
	p.view.SetPinned(false)
	p.view.List.SetRangeHighlight(transcript.Point{}, transcript.Point{}, nil)
}

// moveCursor moves the cursor of copy mode and highlights the selection.
func (p *transcriptPane) moveCursor(to transcript.Point) {
	c, list := &p.copyMode, p.view.List
	c.cursor = list.Clamp(to)
	if !c.selecting {
		c.start = c.cursor
	}
	list.EnsureVisible(c.cursor)
	list.SetRangeHighlight(c.start, c.cursor, func(line string) string {
		return p.styles.Selected.Render(ansi.Strip(line))
	})
}

// pressCopyMode handles a key in copy mode. For the keys of other parts it ends copy mode and
// returns false; the caller then handles the key.
func (p *transcriptPane) pressCopyMode(key string) (cmd tea.Cmd, handled bool) {
	c, list := &p.copyMode, p.view.List
	page := max(1, list.Height()-1)
	switch p.styles.Keys.InList(keymap.CopyMode, key) {
	case keymap.Back:
		p.leaveCopyMode()
	case keymap.Up:
		p.moveCursor(list.MovePoint(c.cursor, -1))
	case keymap.Down:
		p.moveCursor(list.MovePoint(c.cursor, 1))
	case keymap.First:
		p.moveCursor(transcript.Point{Item: list.First()})
	case keymap.Last:
		p.moveCursor(transcript.Point{Item: list.Last() + 1})
	case keymap.StartSelection:
		c.selecting = true
		c.start = c.cursor
		p.moveCursor(c.cursor)
	case keymap.SelectBlock:
		p.selectBlock()
	case keymap.CopySelection:
		lines, more := list.TextBetween(c.start, c.cursor, ui.MaxCopy)
		p.leaveCopyMode()
		text := strings.Join(lines, "\n")
		if more {
			return p.copy("the first lines", text), true
		}
		return p.copy("", text), true
	default:
		switch p.styles.Keys.At(keymap.Global, key) {
		case keymap.PageUp:
			p.moveCursor(list.MovePoint(c.cursor, -page))
		case keymap.PageDown:
			p.moveCursor(list.MovePoint(c.cursor, page))
		case keymap.FocusNext, keymap.FocusPrevious, keymap.Help, keymap.Interrupt, keymap.Find:
			p.leaveCopyMode()
			return nil, false
		}
	}
	return nil, true
}

// selectBlock selects the paragraph at the cursor. If it is selected already, the selection is
// extended by the next paragraph.
func (p *transcriptPane) selectBlock() {
	c, list := &p.copyMode, p.view.List
	from, to := list.Paragraph(c.cursor)
	if c.selecting && c.cursor == to && !from.Before(c.start) {
		_, to = list.Paragraph(list.MovePoint(to, 1))
		if lines, _ := list.TextBetween(to, to, ui.MaxCopy); len(lines) > 0 && lines[0] == "" {
			_, to = list.Paragraph(list.MovePoint(to, 1)) // skip the blank line
		}
		p.moveCursor(to)
		return
	}
	c.selecting, c.start = true, from
	p.moveCursor(to)
}

// hint returns the number of selected lines and the keys of copy mode.
func (c *copyMode) hint(styles *ui.Styles, list *transcript.List) string {
	lines := format.Count(list.CountLines(c.start, c.cursor), "line")
	keys := styles.Keys.Hint(keymap.StartSelection, "starts selection", keymap.SelectBlock, "block",
		keymap.CopySelection, "copies", keymap.Back, "closes")
	return styles.Warning.Render("copy mode: "+lines) + styles.Dim.Render(" · "+keys)
}

// copy puts a text into the clipboard, at most [ui.MaxCopy] bytes of it, and reports its size as
// the status message. name describes the text and may be empty.
func (p *transcriptPane) copy(name, text string) tea.Cmd {
	status := p.commands.Status
	text = transcript.Clean(text)
	if text == "" {
		status.Text = "there is nothing to copy"
		return nil
	}
	suffix := ""
	if len(text) > ui.MaxCopy {
		text = text[:ui.MaxCopy]
		for !utf8.ValidString(text[len(text)-utf8.UTFMax:]) {
			text = text[:len(text)-1]
		}
		suffix = ", the first MiB of it"
	}
	lines := format.Count(1+strings.Count(strings.TrimSuffix(text, "\n"), "\n"), "line")
	characters := format.Count(utf8.RuneCountInString(text), "character")
	if name != "" {
		name += ": "
	}
	status.Text = fmt.Sprintf("copied %s%s, %s%s", name, lines, characters, suffix)
	return p.clipboard.Copy(text)
}

// copyItem copies the text of an item.
func (p *transcriptPane) copyItem(item transcript.Item) tea.Cmd {
	return p.copy(transcriptview.CopyText(item))
}

// copyCode copies a code block of an item. Each call for the same item copies the next block.
func (p *transcriptPane) copyCode(id transcript.ID) tea.Cmd {
	c := &p.copyMode
	blocks, name := transcriptview.Code(p.view.List.Item(id))
	if len(blocks) == 0 {
		p.commands.Status.Text = "there is no code in it"
		return nil
	}
	if c.codeBlock++; c.codeItem != id || c.codeBlock >= len(blocks) {
		c.codeItem, c.codeBlock = id, 0
	}
	return p.copy(name(c.codeBlock), blocks[c.codeBlock])
}
