package process

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// startTime returns the time of day of the start, to the microsecond; "" without such a process.
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

// isCurrent reports whether the number is still this group's. Only a live leader can confirm it.
func (g Group) isCurrent() bool { return g.Start != "" && startTime(g.PID) == g.Start }

// groupRunning assumes that the group runs: this system does not tell zombies from live processes.
func groupRunning(int) bool { return true }

// Peer returns the ancestry of the process that connected a Unix socket: the process itself, its
// parent, and so on.
func Peer(c *net.UnixConn) ([]Ancestor, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("identify peer: %w", err)
	}
	var pid int
	var pidErr error
	if err := raw.Control(func(fd uintptr) {
		pid, pidErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	}); err != nil {
		return nil, fmt.Errorf("identify peer: %w", err)
	}
	if pidErr != nil {
		return nil, ErrPeerGone
	}
	return ancestry(pid)
}

// lookup returns a process, without Session, and its parent; ok is false without such a process.
func lookup(pid int) (a Ancestor, parent int, ok bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return a, 0, false
	}
	a = Ancestor{PID: pid, Start: formatStart(k), Group: int(k.Eproc.Pgid)}
	return a, int(k.Eproc.Ppid), true
}

// environment returns the environment of a process at its start, or "". The system returns the
// number of arguments, the path of the program, padding, the arguments and the environment.
func environment(pid int) string {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return ""
	}
	count := int(binary.NativeEndian.Uint32(b))
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		_, rest, _ = bytes.Cut(rest, []byte{0})
	}
	return string(rest)
}

// waitExited returns immediately: this system cannot wait for a child without reaping it.
func waitExited(int) bool { return false }

func (g Group) running() bool { return startTime(g.PID) == g.Start }
