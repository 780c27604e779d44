package tuitest

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// KeyPress returns the press of a named key, with modifiers such as "ctrl+x". Other names are typed
// as text.
func KeyPress(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"enter":     tea.KeyEnter,
		"esc":       tea.KeyEscape,
		"tab":       tea.KeyTab,
		"space":     tea.KeySpace,
		"backspace": tea.KeyBackspace,
		"delete":    tea.KeyDelete,
		"up":        tea.KeyUp,
		"down":      tea.KeyDown,
		"left":      tea.KeyLeft,
		"right":     tea.KeyRight,
		"pgup":      tea.KeyPgUp,
		"pgdown":    tea.KeyPgDown,
		"home":      tea.KeyHome,
		"end":       tea.KeyEnd,
		"f1":        tea.KeyF1,
		"f2":        tea.KeyF2,
		"f3":        tea.KeyF3,
		"f4":        tea.KeyF4,
		"f5":        tea.KeyF5,
		"f6":        tea.KeyF6,
		"f7":        tea.KeyF7,
		"f8":        tea.KeyF8,
		"f9":        tea.KeyF9,
		"f10":       tea.KeyF10,
		"f11":       tea.KeyF11,
		"f12":       tea.KeyF12,
	}
	var mod tea.KeyMod
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if rest, ok := strings.CutPrefix(name, m.prefix); ok {
			name, mod = rest, mod|m.mod
		}
	}
	if code, ok := codes[name]; ok {
		k := tea.KeyPressMsg{Code: code, Mod: mod}
		if name == "space" {
			k.Text = " "
		}
		return k
	}
	r, _ := utf8.DecodeRuneInString(name)
	if mod != 0 {
		return tea.KeyPressMsg{Code: r, Mod: mod}
	}
	return tea.KeyPressMsg{Code: r, Text: name}
}

// Messages runs a command and returns its messages, including messages of batches.
func Messages(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	batch, ok := msg.(tea.BatchMsg)
	if !ok {
		return []tea.Msg{msg}
	}
	var out []tea.Msg
	for _, c := range batch {
		out = append(out, Messages(c)...)
	}
	return out
}

// FirstMessage runs a command and returns its first non-nil message.
func FirstMessage(cmd tea.Cmd) tea.Msg {
	for _, msg := range Messages(cmd) {
		if msg != nil {
			return msg
		}
	}
	return nil
}
