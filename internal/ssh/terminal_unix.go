//go:build unix

package ssh

import "syscall"

// withoutTerminal starts a process in a session of its own, so that it cannot ask at the terminal
// and gets none of its signals.
func withoutTerminal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
