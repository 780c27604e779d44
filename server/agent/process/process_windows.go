package process

import (
	"context"
	"os"
	"os/exec"
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

// signalAll does nothing: descendants are unknown on Windows.
func signalAll([]Group, syscall.Signal) {}

// awaitExits does nothing: no process is supervised on Windows.
func awaitExits([]Group) {}

// EndGroup does nothing: no group is recorded without a start time.
func EndGroup(context.Context, Group, time.Duration) error { return nil }

// A startBarrier does nothing on Windows: start times are unknown there, so no group is recorded.
type startBarrier struct{}

func newStartBarrier(*exec.Cmd, []string) (*startBarrier, error) { return &startBarrier{}, nil }
func (*startBarrier) wait() error                                { return nil }
func (*startBarrier) release() error                             { return nil }
func (*startBarrier) close()                                     {}
