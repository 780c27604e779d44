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
	return began(k)
}

func began(k *unix.KinfoProc) string {
	return fmt.Sprintf("%d.%06d", k.Proc.P_starttime.Sec, k.Proc.P_starttime.Usec)
}

// descendants returns the children of a process, their children, and so on.
func descendants(pid int) []Group {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	children := map[int][]Group{}
	for i := range all {
		k := &all[i]
		parent := int(k.Eproc.Ppid)
		children[parent] = append(children[parent], Group{PID: int(k.Proc.P_pid), Start: began(k)})
	}
	return below(pid, children)
}

// still reports whether the number still means this group. Only the leader can tell.
func (g Group) still() bool { return g.Start != "" && startTime(g.PID) == g.Start }
