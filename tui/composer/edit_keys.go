package composer

import (
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/ui"
)

// SetVi enables the keys of vi. The composer is in insert mode then.
func (c *Composer) SetVi() { c.vi = new(vi) }

// ViMode returns "insert" or "normal", or "" without the keys of vi.
func (c *Composer) ViMode() string {
	switch {
	case c.vi == nil:
		return ""
	case c.vi.normal:
		return "normal"
	}
	return "insert"
}

// LeaveInsert ends the insert mode of vi. It reports whether it was active.
func (c *Composer) LeaveInsert() bool {
	if c.vi == nil || c.vi.normal {
		return false
	}
	c.setViText(c.vi.enter(c.viText()))
	return true
}

// startInsert starts the insert mode of vi, for a new text.
func (c *Composer) startInsert() {
	if c.vi != nil {
		c.vi.normal, c.vi.pending, c.vi.undo = false, "", nil
	}
}

// Press handles a key.
func (c *Composer) Press(msg tea.KeyPressMsg) {
	name := msg.String()
	switch {
	case c.vi != nil && c.vi.normal && (ui.Writes(msg) || name == "backspace"):
		if ui.Writes(msg) && msg.Text != " " {
			name = msg.Text
		}
		c.setViText(c.vi.press(name, c.viText()))
	case name == "ctrl+y":
		c.area.InsertString(c.killed)
	case key.Matches(msg, c.area.KeyMap.DeleteWordBackward, c.area.KeyMap.DeleteWordForward,
		c.area.KeyMap.DeleteAfterCursor, c.area.KeyMap.DeleteBeforeCursor):
		before := c.area.Value()
		c.area.handleKey(msg)
		c.keepKilled(before)
	default:
		c.area.handleKey(msg)
	}
}

// keepKilled keeps the text that a key deleted.
func (c *Composer) keepKilled(before string) {
	after := c.area.Value()
	n := len(before) - len(after)
	if n <= 0 {
		return
	}
	cursor := c.area.cursor() // the deleted text was there
	c.killed = before[cursor : cursor+n]
}

// viText returns the text and the cursor.
func (c *Composer) viText() viText {
	text := c.area.Value()
	return viText{[]rune(text), utf8.RuneCountInString(text[:c.area.cursor()])}
}

// setViText replaces the text and the cursor.
func (c *Composer) setViText(t viText) {
	c.area.setWindow(string(t.text), len(string(t.text[:t.cursor])))
}
