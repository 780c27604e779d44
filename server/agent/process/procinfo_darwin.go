package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startTime returns the time of day at which the process started, to the microsecond, or "" when
// there is no such process.
func startTime(pid int) string {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return ""
	}
	return formatStart(k)
}

func formatStart(k *unix.KinfoProc) string {
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
		children[parent] = append(children[parent], Group{PID: int(k.Proc.P_pid), Start: formatStart(k)})
	}
	return subtree(pid, children)
}

// isCurrent reports whether the number still belongs to this group. Only a live leader can confirm
// it.
func (g Group) isCurrent() bool { return g.Start != "" && startTime(g.PID) == g.Start }

// groupRunning assumes that the group runs: a zombie cannot be told from a live process here.
func groupRunning(int) bool { return true }
