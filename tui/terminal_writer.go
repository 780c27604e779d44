package tui

import (
	"bytes"
	"os"
)

// Sequences of a terminal's alternate screen and of its alternate scroll mode (DECSET 1007): there
// a mouse wheel without mouse reports sends arrow keys.
const (
	enterAltScreen = "\x1b[?1049h"
	leaveAltScreen = "\x1b[?1049l"

	enableAlternateScroll  = "\x1b[?1007s\x1b[?1007h" // saves the mode and sets it
	restoreAlternateScroll = "\x1b[?1007r"
)

// terminalWriter writes to a terminal and counts the bytes. While it shows the alternate screen
// without mouse reports, which have precedence, the wheel sends arrow keys: it scrolls, and the terminal
// still selects text.
// Other programs that get the terminal, such as an editor, find it as it was.
type terminalWriter struct {
	file *os.File
	pace *pace // nil: none
}

// Write writes to the terminal. The mode of the wheel follows the switch of the screen.
func (t *terminalWriter) Write(b []byte) (int, error) {
	t.pace.wrote(len(b))
	n, err := t.file.Write(b)
	if err != nil {
		return n, err
	}
	switch enter, leave := bytes.LastIndex(b, []byte(enterAltScreen)), bytes.LastIndex(b, []byte(leaveAltScreen)); {
	case enter > leave:
		_, err = t.file.WriteString(enableAlternateScroll)
	case leave > enter:
		_, err = t.file.WriteString(restoreAlternateScroll)
	}
	return n, err
}

// Read, Close and Fd make the output a terminal for Bubble Tea.
func (t *terminalWriter) Read(b []byte) (int, error) { return t.file.Read(b) }

// Close closes the file.
func (t *terminalWriter) Close() error { return t.file.Close() }

// Fd returns the descriptor of the file.
func (t *terminalWriter) Fd() uintptr { return t.file.Fd() }

// Unwrap returns the terminal, for a child process that takes it over.
func (t *terminalWriter) Unwrap() *os.File { return t.file }
