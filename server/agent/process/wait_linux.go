package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// waitExited returns when a child has exited, and reports whether it is not reaped yet.
func waitExited(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
