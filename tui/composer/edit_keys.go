package composer

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// SetVi enables the keys of vi. The composer is in insert mode then.
func (c *Composer) SetVi() { c.keys.SetVi() }

// ViMode returns "insert" or "normal", or "" without the keys of vi.
func (c *Composer) ViMode() string { return c.keys.Mode() }

// LeaveInsert ends the insert mode of vi. It reports whether it was active.
func (c *Composer) LeaveInsert() bool { return c.keys.LeaveInsert(&c.area) }

// Press handles a key.
func (c *Composer) Press(msg tea.KeyPressMsg) { c.keys.Press(&c.area, msg) }

// Text implements edit.Field.
func (t *longText) Text() (text string, cursor int) { return t.Value(), t.cursor() }

// SetText implements edit.Field.
func (t *longText) SetText(text string, cursor int) { t.setWindow(text, cursor) }

// Handle implements edit.Field.
func (t *longText) Handle(msg tea.KeyPressMsg) { t.handleKey(msg) }

// Kills implements edit.Field.
func (t *longText) Kills(msg tea.KeyPressMsg) bool {
	k := &t.KeyMap
	return key.Matches(msg, k.DeleteWordBackward, k.DeleteWordForward, k.DeleteAfterCursor, k.DeleteBeforeCursor)
}
