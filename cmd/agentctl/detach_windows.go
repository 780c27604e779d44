package main

import "syscall"

// canServe tells whether this system can run a server.
const canServe = false

// detached starts a process that does not get this console's signals.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
