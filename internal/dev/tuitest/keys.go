package tuitest

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/edit"
)

// KeyPress returns the press of a named key, with modifiers such as "ctrl+x". Other names are typed
// as text.
func KeyPress(name string) tea.KeyPressMsg { return edit.KeyPress(name) }

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
