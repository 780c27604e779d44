//go:build unix

package sqlite

import "golang.org/x/sys/unix"

// changeTime returns when the file's content or inode last changed, in nanoseconds.
func changeTime(path string) (int64, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, err
	}
	return st.Ctim.Nano(), nil
}
