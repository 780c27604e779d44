package edit

import (
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// A Field is a text field. Cursors are positions in bytes.
type Field interface {
	Text() (text string, cursor int)
	SetText(text string, cursor int)

	// Handle handles a key of the field itself.
	Handle(msg tea.KeyPressMsg)
	// Kills reports whether a key deletes more than a character.
	Kills(msg tea.KeyPressMsg) bool
}

// Keys are the editing keys of a field. The zero value has no keys of vi.
type Keys struct {
	vi     *vi    // nil: not the keys of vi
	killed string // text deleted last by a key that deletes more than a character
}

// SetVi enables the keys of vi. The field is in insert mode then.
func (k *Keys) SetVi() { k.vi = new(vi) }

// Mode returns "insert" or "normal", or "" without the keys of vi.
func (k *Keys) Mode() string {
	switch {
	case k.vi == nil:
		return ""
	case k.vi.normal:
		return "normal"
	}
	return "insert"
}

// LeaveInsert ends the insert mode of vi. It reports whether it was active.
func (k *Keys) LeaveInsert(f Field) bool {
	if k.vi == nil || k.vi.normal {
		return false
	}
	set(f, k.vi.enter(get(f)))
	return true
}

// StartInsert starts the insert mode of vi, for a new text.
func (k *Keys) StartInsert() {
	if k.vi != nil {
		k.vi.normal, k.vi.pending, k.vi.undo = false, "", nil
	}
}

// Press handles a key.
func (k *Keys) Press(f Field, msg tea.KeyPressMsg) {
	name := msg.String()
	switch {
	case k.vi != nil && k.vi.normal && (Writes(msg) || name == "backspace"):
		if Writes(msg) && msg.Text != " " {
			name = msg.Text
		}
		set(f, k.vi.press(name, get(f)))
	case name == "ctrl+y":
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

// get returns the text and the cursor of a field.
func get(f Field) viText {
	text, cursor := f.Text()
	return viText{[]rune(text), utf8.RuneCountInString(text[:cursor])}
}

// set replaces the text and the cursor of a field.
func set(f Field, t viText) { f.SetText(string(t.text), len(string(t.text[:t.cursor]))) }
