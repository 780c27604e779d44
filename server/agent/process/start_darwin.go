package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startTime is the time of day at which the process began, to the microsecond. "" when there is no such process.
func startTime(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
}

// still reports whether the number still means this group. Only the leader can tell.
func (g Group) still() bool { return g.Start != "" && startTime(g.PID) == g.Start }
