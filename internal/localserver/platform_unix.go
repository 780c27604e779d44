//go:build unix

package localserver

import (
	"io/fs"
	"os"
	"syscall"
)

// Supported reports whether this system can run a server.
const Supported = true

// detached starts a process in a new session: without this terminal and its signals.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// FileID returns the number of a file in its file system, 0 if the system has none.
func FileID(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Ino)
	}
	return 0
}

func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
