package sqlite

import "golang.org/x/sys/unix"

// bootID names this run of the operating system.
func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
