package tui

import (
	"errors"
	"os"
	"sync"
)

// ErrTerminalGone is the error of a screen whose terminal is gone.
var ErrTerminalGone = errors.New("the terminal is gone")

// terminalInput is the input of a terminal. The library takes its end for a user who types nothing; a process
// that ignores SIGHUP would go on unseen.
type terminalInput struct {
	*os.File
	once sync.Once
	gone chan struct{} // closed when no more input will come
}

// Read reads input.
func (t *terminalInput) Read(b []byte) (int, error) {
	n, err := t.File.Read(b)
	if err != nil {
		t.once.Do(func() { close(t.gone) })
	}
	return n, err
}

// Unwrap returns the terminal itself, for another program that takes it over.
func (t *terminalInput) Unwrap() *os.File { return t.File }
