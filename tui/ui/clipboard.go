package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// MaxCopy bounds what is copied, in bytes. Many terminals take less.
const MaxCopy = 1 << 20

// screenChunk is how many bytes of a sequence GNU screen passes on at once.
const screenChunk = 768

// Clipboard is the way to the clipboard of the user's terminal, which a multiplexer may be in front of.
type Clipboard uint8

// The ways to the clipboard.
const (
	DirectClipboard Clipboard = iota
	TmuxClipboard
	ScreenClipboard
)

// DetectClipboard finds the multiplexer, if any, in the environment.
func DetectClipboard(env []string) Clipboard {
	vars := Environ(env)
	switch {
	case vars["TMUX"] != "":
		return TmuxClipboard
	case vars["STY"] != "":
		return ScreenClipboard
	}
	return DirectClipboard
}

// Copy returns the command that puts text into the clipboard, also over SSH. tmux, depending on its
// configuration, takes the sequence itself or passes it through, so it gets both. The text is encoded:
// nothing in it controls the terminal.
func (c Clipboard) Copy(text string) tea.Cmd {
	plain := tea.SetClipboard(text)
	switch c {
	case TmuxClipboard:
		return tea.Batch(plain, tea.Raw(ansi.TmuxPassthrough(ansi.SetSystemClipboard(text))))
	case ScreenClipboard:
		return tea.Raw(ansi.ScreenPassthrough(ansi.SetSystemClipboard(text), screenChunk))
	}
	return plain
}

// Environ returns the variables of an environment; of equal names the last counts.
func Environ(env []string) map[string]string {
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return vars
}
