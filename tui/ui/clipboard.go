package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// MaxCopy is the limit of a copied text in bytes. Many terminals accept less.
const MaxCopy = 1 << 20

// screenChunk is the limit in bytes of one sequence that GNU screen passes on.
const screenChunk = 768

// Clipboard is the way to the clipboard of the user's terminal, directly or through a multiplexer.
type Clipboard uint8

// The ways to the clipboard.
const (
	DirectClipboard Clipboard = iota
	TmuxClipboard
	ScreenClipboard
)

// CopyIntent asks the screen to copy a text to the clipboard.
type CopyIntent struct{ Text string }

// DetectClipboard detects a multiplexer from the environment.
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

// Copy returns a command that copies text to the clipboard with OSC 52, which also works over SSH.
// tmux gets the sequence twice: depending on its configuration it handles the sequence itself or
// passes it through. The text is encoded and cannot control the terminal.
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

// Environ returns the variables of an environment as a map. The last of several equal names wins.
func Environ(env []string) map[string]string {
	vars := map[string]string{}
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return vars
}
