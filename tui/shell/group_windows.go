package shell

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminateGroup ends a process and its descendants.
func terminateGroup(leader *os.Process) error {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(leader.Pid)).Run()
}

// killGroup does nothing: terminateGroup has ended the processes.
func killGroup(*os.Process) {}
