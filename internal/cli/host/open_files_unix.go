//go:build unix

package host

import "golang.org/x/sys/unix"

// OpenFileLimit returns how many files a process may have open.
func OpenFileLimit() (uint64, error) {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	return uint64(limit.Max), err
}
