package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// copyMost is how many bytes are copied at most; many terminals take less.
const copyMost = 1 << 20

// multiplexer is what stands between the program and the terminal that has the
// clipboard.
type multiplexer uint8

const (
	noMultiplexer multiplexer = iota
	inTmux
	inScreen
)

func multiplexerOf(env []string) multiplexer {
	vars := variables(env)
	switch {
	case vars["TMUX"] != "":
		return inTmux
	case vars["STY"] != "":
		return inScreen
	}
	return noMultiplexer
}

// screenMost is how much of a sequence GNU screen hands on at once.
const screenMost = 768

// copyOf is the sequences that put text into the clipboard, over any distance.
// A multiplexer may keep the plain one for itself or hand it on, as it is
// configured; what passes through it reaches the terminal. Encoded as it is, no
// text steers either.
func (m multiplexer) copyOf(text string) tea.Cmd {
	plain := tea.SetClipboard(text)
	switch m {
	case inTmux:
		return tea.Batch(plain, tea.Raw(ansi.TmuxPassthrough(ansi.SetSystemClipboard(text))))
	case inScreen:
		return tea.Raw(ansi.ScreenPassthrough(ansi.SetSystemClipboard(text), screenMost))
	}
	return plain
}

// copy puts text into the clipboard and says how much of what that was.
func (m *model) copy(what, text string) tea.Cmd {
	text = transcript.Clean(text)
	if text == "" {
		m.word = "there is nothing to copy"
		return nil
	}
	all := ""
	if len(text) > copyMost {
		text = text[:copyMost]
		for !utf8.ValidString(text[len(text)-utf8.UTFMax:]) {
			text = text[:len(text)-1]
		}
		all = ", the first MiB of it"
	}
	lines := 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	m.word = fmt.Sprintf("copied %s: %s, %s%s", what, count(lines, "line"), count(utf8.RuneCountInString(text), "character"), all)
	return m.mux.copyOf(text)
}
