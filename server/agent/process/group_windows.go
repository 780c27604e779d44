package process

import (
	"context"
	"os"
	"syscall"
	"time"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup kills the leader: Windows has no signal for a program without a console.
func terminateGroup(pid int) error { return killGroup(pid) }

func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

func descendants(int) []Group { return nil }

func killAll([]Group) {}

// startTime is unused: no server runs on Windows.
func startTime(int) string { return "" }

// EndGroup does nothing: no group is recorded without a start time.
func EndGroup(context.Context, Group, time.Duration) error { return nil }
