//go:build unix

package main

import "syscall"

// canServe tells whether this system can run a server.
const canServe = true

// detached starts a process in a session of its own: no terminal, no signals of this one.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
