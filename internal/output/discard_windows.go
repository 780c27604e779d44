package output

import (
	"os"

	"golang.org/x/sys/windows"
)

// discardInput discards what was typed at a console and not read.
func discardInput(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
