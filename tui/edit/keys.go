package edit

import tea "charm.land/bubbletea/v2"

// A Field is a text field. Cursors are positions in bytes.
type Field interface {
	Text() (text string, cursor int)
	SetText(text string, cursor int)

	// Handle handles a key of the field itself.
	Handle(msg tea.KeyPressMsg)
	// Kills reports whether a key deletes more than a character.
	Kills(msg tea.KeyPressMsg) bool
}

// Keys are the editing keys of a field. The zero value is ready.
type Keys struct {
	killed string // text deleted last by a key that deletes more than a character
}

// Press handles a key.
func (k *Keys) Press(f Field, msg tea.KeyPressMsg) {
	switch {
	case msg.String() == "ctrl+y":
		text, cursor := f.Text()
		f.SetText(text[:cursor]+k.killed+text[cursor:], cursor+len(k.killed))
	case f.Kills(msg):
		before, _ := f.Text()
		f.Handle(msg)
		k.keepKilled(f, before)
	default:
		f.Handle(msg)
	}
}

// keepKilled keeps the text that a key deleted.
func (k *Keys) keepKilled(f Field, before string) {
	after, cursor := f.Text() // the deleted text was at the cursor
	if n := len(before) - len(after); n > 0 {
		k.killed = before[cursor : cursor+n]
	}
}

// Writes reports whether a key press writes text into a field.
func Writes(msg tea.KeyPressMsg) bool { return msg.Text != "" && msg.Mod&(tea.ModAlt|tea.ModCtrl) == 0 }
