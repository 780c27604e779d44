package output

import (
	"os"

	"golang.org/x/sys/unix"
)

// discardInput discards what was typed at a terminal and not read.
func discardInput(f *os.File) error { return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
