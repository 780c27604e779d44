package tempdir

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	memory = "/dev/shm"
	room   = 1 << 30 // bytes: tests of several packages run side by side
)

// InMemory keeps the temporary files of this process, and of the programs that it starts, in memory, if
// memory has a file system with room. It is for tests with many stores: a disk makes each store wait for
// its syncs. Call it from TestMain. It keeps a TMPDIR that is set.
func InMemory() {
	var fs unix.Statfs_t
	if os.Getenv("TMPDIR") != "" || unix.Statfs(memory, &fs) != nil || unix.Access(memory, unix.W_OK) != nil {
		return
	}
	if fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.MS_NOEXEC == 0 && fs.Bavail*uint64(fs.Bsize) >= room {
		_ = os.Setenv("TMPDIR", memory)
	}
}
