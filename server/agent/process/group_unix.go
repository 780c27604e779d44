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

// killAll kills what is left of a list of processes.
func killAll(list []Group) {
	for _, g := range list {
		if startTime(g.PID) == g.Start {
			_ = syscall.Kill(g.PID, syscall.SIGKILL)
		}
	}
}

// pollInterval is how often a group that is no child of ours is looked at.
const pollInterval = 20 * time.Millisecond

// EndGroup ends a group that an earlier server left: it is asked to terminate, and killed after grace. A group whose
// number now belongs to somebody else is left alone. Descendants of the leader in other groups are killed at the end. It
// returns when nothing of the group runs, at the latest a further grace after the kill.
func EndGroup(ctx context.Context, g Group, grace time.Duration) error {
	if g.PID <= 1 || !g.isCurrent() {
		return nil
	}
	kin := descendants(g.PID)
	defer func() { killAll(kin) }()
	if errors.Is(terminateGroup(g.PID), syscall.ESRCH) {
		return nil
	}
	look := time.NewTicker(pollInterval)
	defer look.Stop()
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
			kin = append(kin, descendants(g.PID)...)
			_ = killGroup(g.PID)
			kill.Reset(grace)
		case <-look.C:
			if errors.Is(syscall.Kill(-g.PID, 0), syscall.ESRCH) || !groupRunning(g.PID) {
				return nil
			}
		}
	}
}
