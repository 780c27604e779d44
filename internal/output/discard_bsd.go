//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// fread is FREAD of the C library: the queue of input.
const fread = 1

// discardInput discards what was typed at a terminal and not read.
func discardInput(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, fread)
}
