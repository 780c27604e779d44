//go:build unix

package shell

import (
	"os"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// terminateGroup asks all processes of a group to end.
func terminateGroup(leader *os.Process) error { return syscall.Kill(-leader.Pid, syscall.SIGTERM) }

// killGroup ends all processes of a group. The group may be gone.
func killGroup(leader *os.Process) { _ = syscall.Kill(-leader.Pid, syscall.SIGKILL) }
