package tui

import (
	"errors"
	"os"
	"sync"
)

// ErrTerminalGone is returned by [Run] and [RunDashboard] if the terminal has been closed.
var ErrTerminalGone = errors.New("the terminal is gone")

// terminalInput is the input of a terminal. It detects the end of the input, which Bubble Tea
// ignores. A process that ignores SIGHUP would otherwise run on without a terminal.
type terminalInput struct {
	*os.File
	once sync.Once
	gone chan struct{} // closed at the end of the input
}

// Read reads from the terminal. On an error it closes gone.
func (t *terminalInput) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	if err != nil {
		t.once.Do(func() { close(t.gone) })
	}
	return n, err
}

// Unwrap returns the terminal, for a child process that takes it over.
func (t *terminalInput) Unwrap() *os.File { return t.File }
