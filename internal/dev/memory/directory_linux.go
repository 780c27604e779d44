package memory

import (
	"os"

	"golang.org/x/sys/unix"
)

// least is the free memory, in bytes, below which directories stay on the disk: a container has 64 MB.
const least = 1 << 30

// useDirectory leaves a directory alone whose programs do not run.
func useDirectory() {
	const dir = "/dev/shm"
	var fs unix.Statfs_t
	if unix.Access(dir, unix.W_OK) != nil || unix.Statfs(dir, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < least ||
		fs.Flags&unix.MS_NOEXEC != 0 {
		return
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
}
