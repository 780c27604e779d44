package process

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Indexes into the fields of /proc/PID/stat that follow the program's name. proc(5) numbers fields
// from 1; the name is field 2. It is in parentheses and may contain any byte, parentheses included.
const (
	statState  = 0 // field 3
	statParent = 4 - 3
	statGroup  = 5 - 3
	statTicks  = 22 - 3
)

// procStat returns the fields after the program's name, or nil when there is no such process.
func procStat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) <= statTicks {
		return nil
	}
	return fields
}

// startTime returns "BOOT TICKS": the boot id and ticks since then; "" without such a process.
func startTime(pid int) string {
	if f := procStat(pid); f != nil {
		return bootID() + " " + f[statTicks]
	}
	return ""
}

// descendants returns the children of a process, their children, and so on.
func descendants(pid int) []Group {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	boot := bootID()
	children := map[int][]Group{}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := procStat(id); f != nil {
			parent, _ := strconv.Atoi(f[statParent])
			children[parent] = append(children[parent], Group{PID: id, Start: boot + " " + f[statTicks]})
		}
	}
	return subtree(pid, children)
}

// bootID identifies the start of the system.
var bootID = sync.OnceValue(func() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(b))
})

// isCurrent reports whether the number still belongs to this group. Within one boot the leader may
// have exited: its number is not reused while the group has members.
func (g Group) isCurrent() bool {
	boot, _, _ := strings.Cut(g.Start, " ")
	now := startTime(g.PID)
	return boot == bootID() && (now == "" || now == g.Start)
}

// running reports whether the process runs. A zombie does not.
func (g Group) running() bool {
	f := procStat(g.PID)
	return f != nil && f[statState] != "Z" && g.Start == bootID()+" "+f[statTicks]
}

// groupRunning reports whether any process of a group runs. Zombies do not count: in a container
// whose first process reaps no children they stay forever.
func groupRunning(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := procStat(id); f != nil && f[statGroup] == strconv.Itoa(group) && f[statState] != "Z" {
			return true
		}
	}
	return false
}

// Peer returns the ancestry of the process that connected a Unix socket: the process itself, its
// parent, and so on. It is empty if this system does not know the process, as for one outside of
// its PID namespace. A descriptor of the process protects against reuse of its number; Linux has it
// since 6.5.
func Peer(c *net.UnixConn) ([]Ancestor, error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("identify peer: %w", err)
	}
	var cred *unix.Ucred
	var pidfd int
	var credErr, pidfdErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		pidfd, pidfdErr = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	}); err != nil {
		return nil, fmt.Errorf("identify peer: %w", err)
	}
	if pidfdErr == nil {
		defer unix.Close(pidfd) //nolint:errcheck // nothing was written
	}
	switch {
	case credErr != nil:
		return nil, fmt.Errorf("identify peer: %w", credErr)
	case cred.Pid == 0:
		return nil, nil
	case pidfdErr != nil && !errors.Is(pidfdErr, unix.ENOPROTOOPT):
		return nil, ErrPeerGone
	}
	list, err := ancestry(int(cred.Pid))
	if pidfdErr == nil && exited(pidfd) {
		return nil, ErrPeerGone
	}
	return list, err
}

// exited reports whether the process of a descriptor has exited.
func exited(pidfd int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, 0)
		if !errors.Is(err, unix.EINTR) {
			return n != 0 || err != nil
		}
	}
}

// lookup returns a process, without Session, and its parent; ok is false without such a process.
func lookup(pid int) (a Ancestor, parent int, ok bool) {
	f := procStat(pid)
	if f == nil {
		return a, 0, false
	}
	a = Ancestor{PID: pid, Start: bootID() + " " + f[statTicks]}
	a.Group, _ = strconv.Atoi(f[statGroup])
	parent, _ = strconv.Atoi(f[statParent])
	return a, parent, true
}

// environment returns the environment of a process at its start, or "".
func environment(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return ""
	}
	return string(b)
}

// waitExited returns when a child has exited, and reports whether it is not reaped yet.
func waitExited(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
