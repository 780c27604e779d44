package edit

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// KeyPress returns the press of a key by its name in the configuration, such as "ctrl+x".
func KeyPress(name string) tea.KeyPressMsg {
	var mod tea.KeyMod
	for _, m := range []struct {
		prefix string
		mod    tea.KeyMod
	}{{"ctrl+", tea.ModCtrl}, {"alt+", tea.ModAlt}, {"shift+", tea.ModShift}} {
		if rest, ok := strings.CutPrefix(name, m.prefix); ok && rest != "" {
			name, mod = rest, mod|m.mod
		}
	}
	if code, ok := keyCodes[name]; ok {
		k := tea.KeyPressMsg{Code: code, Mod: mod}
		if code == tea.KeySpace {
			k.Text = " "
		}
		return k
	}
	k := tea.KeyPressMsg{Code: []rune(name)[0], Mod: mod}
	if mod == 0 {
		k.Text = name
	}
	return k
}

// keyCodes has the keys without a character, by name.
var keyCodes = func() map[string]rune {
	codes := map[string]rune{}
	for _, code := range []rune{
		tea.KeyEnter, tea.KeyEscape, tea.KeyTab, tea.KeySpace, tea.KeyBackspace, tea.KeyDelete, tea.KeyInsert,
		tea.KeyUp, tea.KeyDown, tea.KeyLeft, tea.KeyRight, tea.KeyPgUp, tea.KeyPgDown, tea.KeyHome, tea.KeyEnd,
	} {
		codes[tea.Key{Code: code}.Keystroke()] = code
	}
	for code := tea.KeyF1; code <= tea.KeyF12; code++ {
		codes[tea.Key{Code: code}.Keystroke()] = code
	}
	return codes
}()
