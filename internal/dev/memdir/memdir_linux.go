package memdir

import (
	"flag"
	"os"

	"golang.org/x/sys/unix"
)

// least is the free memory, in bytes, below which directories stay on the disk: a container has
// 64 MB.
const least = 1 << 30

// Use makes testing.T.TempDir create directories in memory, where the system has enough. Call it
// from TestMain of a package whose tests open stores, after other defaults of flags. A directory whose
// programs do not run is left alone. Benchmarks stay on the disk.
func Use() {
	const dir = "/dev/shm"
	if flag.Parse(); flag.Lookup("test.bench").Value.String() != "" {
		return
	}
	var fs unix.Statfs_t
	if unix.Access(dir, unix.W_OK) != nil || unix.Statfs(dir, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < least ||
		fs.Flags&unix.MS_NOEXEC != 0 {
		return
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		panic(err)
	}
}
