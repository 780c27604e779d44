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

func ownedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
