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

// killAll kills the processes of a list that still run.
func killAll(list []Group) {
	for _, g := range list {
		if startTime(g.PID) == g.Start {
			_ = syscall.Kill(g.PID, syscall.SIGKILL)
		}
	}
}

// pollInterval is the interval between checks of a group that is not a child of this process.
const pollInterval = 20 * time.Millisecond

// EndGroup stops a group that an earlier server left: it sends TERM and kills the group after
// grace. A group whose number was reused is left alone. Descendants of the leader in other groups
// are killed at the end. EndGroup returns when no process of the group runs, at the latest grace
// after the kill.
func EndGroup(ctx context.Context, g Group, grace time.Duration) error {
	if g.PID <= 1 || !g.isCurrent() {
		return nil
	}
	left := descendants(g.PID)
	defer func() { killAll(left) }()
	if errors.Is(terminateGroup(g.PID), syscall.ESRCH) {
		return nil
	}
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
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
		case <-poll.C:
			if errors.Is(syscall.Kill(-g.PID, 0), syscall.ESRCH) || !groupRunning(g.PID) {
				return nil
			}
		}
	}
}
