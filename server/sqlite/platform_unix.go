//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// changeTime returns the time of the last change to the content or inode of a file, in nanoseconds.
func changeTime(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, err
	}
	return st.Ctim.Nano(), nil
}
