package tool

import "os/exec"

// signalCode returns the exit code of a program without one.
func signalCode(*exec.ExitError) int { return 1 }
