//go:build unix

package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"agentctl/internal/localserver"
)

// Below these a server may soon fail.
const (
	fewBytes       = 1 << 30
	fewDescriptors = 1024
)

// checkLimits checks the free disk space of the data directory, and how many files a process may
// have open.
func checkLimits(dir localserver.Dir) []check {
	var checks []check
	var fs unix.Statfs_t
	path := string(dir)
	if _, err := os.Stat(path); err != nil {
		path = "." // the directory does not exist yet
	}
	if err := unix.Statfs(path, &fs); err != nil {
		checks = append(checks, check{"disk", checkNote, err.Error()})
	} else {
		checks = append(checks, checkDisk(fs.Bavail*uint64(fs.Bsize)))
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return append(checks, check{"open files", checkNote, err.Error()})
	}
	return append(checks, checkDescriptors(uint64(limit.Max)))
}

func checkDisk(free uint64) check {
	c := check{"disk", checkOK, fmt.Sprintf("%.1f GB are free", float64(free)/1e9)}
	if free < fewBytes {
		c.Status, c.Detail = checkBad, c.Detail+": the server refuses commands when nothing can be written"
	}
	return c
}

func checkDescriptors(limit uint64) check {
	c := check{"open files", checkOK, fmt.Sprintf("a process may have %d", limit)}
	if limit < fewDescriptors {
		c.Status, c.Detail = checkNote, c.Detail+": few for many sessions and clients; raise ulimit -n"
	}
	return c
}
