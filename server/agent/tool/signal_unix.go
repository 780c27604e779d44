//go:build unix

package tool

import (
	"os/exec"
	"syscall"
)

// signalCode returns the exit code of a program that a signal ended.
func signalCode(e *exec.ExitError) int {
	if s, ok := e.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return 1
}
