package tui

import (
	"errors"
	"io"
	"os"
	"sync"
)

// ErrTerminalGone ends a screen whose terminal is not there any more.
var ErrTerminalGone = errors.New("the terminal is gone")

// keyboard is a terminal's keys. A terminal that is gone is told by the end of its
// keys, which the library takes for a person who types nothing; whoever ignores the
// signal for it would have a screen run on that nobody sees.
type keyboard struct {
	*os.File
	once sync.Once
	gone chan struct{} // closed when no key comes any more
}

func (k *keyboard) Read(b []byte) (int, error) {
	n, err := k.File.Read(b)
	if err != nil {
		k.once.Do(func() { close(k.gone) })
	}
	return n, err
}

// bare is the input that another program takes over: a file as it is, for what is
// not one is no terminal to it.
func bare(in io.Reader) io.Reader {
	if k, ok := in.(*keyboard); ok {
		return k.File
	}
	return in
}
