package sqlite

import "golang.org/x/sys/unix"

// bootID returns an id that changes with every boot of the operating system.
func bootID() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }
