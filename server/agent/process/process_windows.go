package process

import (
	"context"
	"net"
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

func descendants(int) []Group { return nil }

func killAll([]Group) {}

// terminate and awaitExits do nothing: no process is supervised on Windows.
func terminate(Group) {}

func awaitExits([]Group) {}

// startTime is unused: no server runs on Windows.
func startTime(int) string { return "" }

// EndGroup does nothing: no group is recorded without a start time.
func EndGroup(context.Context, Group, time.Duration) error { return nil }

// A startBarrier does nothing on Windows: start times are unknown there, so no group is recorded.
type startBarrier struct{}

func newStartBarrier(*exec.Cmd, []string) (*startBarrier, error) { return &startBarrier{}, nil }
func (*startBarrier) wait() error                                { return nil }
func (*startBarrier) release() error                             { return nil }
func (*startBarrier) close()                                     {}

// Peer returns nothing: the process at the other end is unknown on Windows.
func Peer(*net.UnixConn) ([]Ancestor, error) { return nil, nil }

func lookup(int) (a Ancestor, parent int, ok bool) { return a, 0, false }

// environment is unknown on Windows, so marked finds no process.
func environment(int) string { return "" }

// waitExited returns immediately: Windows cannot wait for a child without reaping it.
func waitExited(int) bool { return false }
