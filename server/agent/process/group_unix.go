//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGTERM) }

func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }

// signalAll sends a signal to the processes of a list that still run.
func signalAll(list []Group, signal syscall.Signal) {
	for _, g := range list {
		if startTime(g.PID) == g.Start {
			_ = syscall.Kill(g.PID, signal)
		}
	}
}

// awaitExits returns when no process of a list runs, at the latest after exitTimeout. Killed
// processes of another namespace exit after the process that waits for them.
func awaitExits(list []Group) {
	limit, poll := time.After(exitTimeout), time.Tick(time.Millisecond)
	for _, g := range list {
		for g.running() {
			select {
			case <-poll:
			case <-limit:
				return
			}
		}
	}
}

const (
	exitTimeout  = 5 * time.Second       // for killed processes
	pollInterval = 20 * time.Millisecond // between checks of a group that is not a child of this process
)

// EndGroup stops a group that an earlier server left: it sends TERM and kills the group after
// grace. A group whose number was reused is left alone. Descendants of the leader in other groups
// are killed at the end. EndGroup returns when no process of the group runs, at the latest grace
// after the kill.
func EndGroup(ctx context.Context, g Group, grace time.Duration) error {
	if g.PID <= 1 || !g.isCurrent() {
		return nil
	}
	left := descendants(g.PID)
	defer func() { signalAll(left, syscall.SIGKILL) }()
	if errors.Is(terminateGroup(g.PID), syscall.ESRCH) {
		return nil
	}
	poll := time.Tick(pollInterval)
	kill := time.NewTimer(grace)
	defer kill.Stop()
	for killed := false; ; {
		select {
		case <-ctx.Done():
			return fmt.Errorf("end process group %d: %w", g.PID, ctx.Err())
		case <-kill.C:
			if killed {
				return nil
			}
			killed = true
			left = append(left, descendants(g.PID)...)
			_ = killGroup(g.PID)
			kill.Reset(grace)
		case <-poll:
			if errors.Is(syscall.Kill(-g.PID, 0), syscall.ESRCH) || !groupRunning(g.PID) {
				return nil
			}
		}
	}
}
