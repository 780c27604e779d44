package composer

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

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
