package output

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"

	"agentctl/tui/transcript"
)

// A CleanWriter removes control sequences from text, which may come from agents and other users.
// All text output of the program goes through one.
type CleanWriter struct {
	W io.Writer

	cleaner transcript.Cleaner
	partial []byte // the first bytes of a rune whose rest comes with the next Write
}

// Write cleans p, which may begin and end in the middle of a rune or control sequence, and writes
// it.
func (c *CleanWriter) Write(p []byte) (int, error) {
	text := append(c.partial, p...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if b := text[len(text)-i]; utf8.RuneStart(b) {
			if !utf8.FullRune(text[len(text)-i:]) {
				end = len(text) - i
			}
			break
		}
	}
	c.partial = bytes.Clone(text[end:])
	if _, err := io.WriteString(c.W, c.cleaner.Clean(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Columns returns the width of a terminal, or 0 if stream is not a terminal.
func Columns(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil {
		return 0
	}
	return width
}

// DiscardInput discards what was typed at a terminal and not read. Of other streams it discards
// nothing.
func DiscardInput(stream any) {
	if f, ok := stream.(*os.File); ok && term.IsTerminal(f.Fd()) {
		_ = discardInput(f) // the terminal was closed: the next read fails
	}
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(f.Fd())
}
