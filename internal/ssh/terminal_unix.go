//go:build unix

package ssh

import "syscall"

// withoutTerminal starts a process in a new session, so that it cannot ask at the terminal and gets
// no signals from it.
func withoutTerminal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
