package localserver

import (
	"io/fs"
	"syscall"
)

// Supported reports whether this system can run a server.
const Supported = false

// detached starts a process that does not receive this console's signals.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// FileID returns the number of a file in its file system, 0 if the system has none.
func FileID(fs.FileInfo) uint64 { return 0 }

func ownedByUser(fs.FileInfo) bool { return true }
