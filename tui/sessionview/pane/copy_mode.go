package pane

import (
	"strings"

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
	styles *ui.Styles
	view   *transcriptview.View

	active    bool
	cursor    transcript.Point // the line moved by keys
	start     transcript.Point // the other end of the selection
	selecting bool             // start is fixed
}

// enter starts copy mode at the selected item, or at the last line on the screen.
func (c *copyMode) enter() {
	list := c.view.List
	if list.Len() == 0 {
		return
	}
	at := list.PointAt(list.Height() - 1)
	if id, ok := list.Selected(); ok {
		at = list.BodyStart(id)
	}
	c.view.Pinned = true
	c.active = true
	c.move(at)
}

// leave ends copy mode. It does nothing if copy mode is not active.
func (c *copyMode) leave() {
	c.active, c.selecting = false, false
	c.view.Pinned = false
	c.view.List.SetRangeHighlight(transcript.Point{}, transcript.Point{}, nil)
}

// move moves the cursor and highlights the selection.
func (c *copyMode) move(to transcript.Point) {
	list := c.view.List
	c.cursor = list.Clamp(to)
	if !c.selecting {
		c.start = c.cursor
	}
	list.EnsureVisible(c.cursor)
	list.SetRangeHighlight(c.start, c.cursor, func(line string) string {
		return c.styles.Selected.Render(ansi.Strip(line))
	})
}

// press handles a key. It returns false for the keys of other parts, for which it ends copy mode.
func (c *copyMode) press(key string) (handled bool) {
	list := c.view.List
	page := max(1, list.Height()-1)
	switch c.styles.Keys.InList(keymap.CopyMode, key) {
	case keymap.Back:
		c.leave()
	case keymap.Up:
		c.move(list.MovePoint(c.cursor, -1))
	case keymap.Down:
		c.move(list.MovePoint(c.cursor, 1))
	case keymap.PageUp:
		c.move(list.MovePoint(c.cursor, -page))
	case keymap.PageDown:
		c.move(list.MovePoint(c.cursor, page))
	case keymap.First:
		c.move(transcript.Point{Item: list.First()})
	case keymap.Last:
		c.move(transcript.Point{Item: list.Last() + 1})
	case keymap.StartSelection:
		c.selecting = true
		c.start = c.cursor
		c.move(c.cursor)
	default:
		switch c.styles.Keys.At(keymap.Global, key) {
		case keymap.FocusNext, keymap.FocusPrevious, keymap.Help, keymap.Interrupt, keymap.Find:
			c.leave()
			return false
		}
	}
	return true
}

// take returns the selected lines and ends copy mode. more reports that the lines are more than
// [ui.MaxCopy] bytes, which are the first ones.
func (c *copyMode) take() (text string, more bool) {
	lines, more := c.view.List.TextBetween(c.start, c.cursor, ui.MaxCopy)
	c.leave()
	return strings.Join(lines, "\n"), more
}

// hint returns the number of selected lines and the keys of copy mode, or "" outside of it.
func (c *copyMode) hint() string {
	if !c.active {
		return ""
	}
	lines := format.Count(c.view.List.CountLines(c.start, c.cursor), "line")
	keys := c.styles.Keys.Hint(keymap.StartSelection, "starts selection", keymap.Choose, "copies", keymap.Back, "closes")
	return c.styles.Warning.Render("copy mode: "+lines) + c.styles.Dim.Render(" · "+keys)
}
