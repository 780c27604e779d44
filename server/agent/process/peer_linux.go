package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Peer returns the ancestry of the process that connected a Unix socket: the process itself, its
// parent, and so on. It is empty if this system does not know the process, as for one outside of
// its PID namespace. A descriptor of the process keeps its number from being taken for that of a
// later process; Linux has it since 6.5.
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

// lookup returns a process, without Session, and its parent. ok is false when there is no such
// process.
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
