//go:build unix

package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentctl/internal/cli/host"
	"agentctl/internal/localserver"
	"agentctl/server"
)

// fewBytes is the free space below which a server may soon fail.
const fewBytes = 1 << 30

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
	limit, err := host.OpenFileLimit()
	if err != nil {
		return append(checks, check{"open files", checkNote, err.Error()})
	}
	checks = append(checks, checkDescriptors(limit))
	if pid := dir.Holder(); pid != 0 {
		if c := checkServerDescriptors(filepath.Join("/proc", strconv.Itoa(pid))); c != nil {
			checks = append(checks, *c)
		}
	}
	return checks
}

// checkServerDescriptors checks how many files the running server has open, by its directory in
// /proc. It returns nil on systems without one.
func checkServerDescriptors(proc string) *check {
	open, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return nil
	}
	limits, err := os.ReadFile(filepath.Join(proc, "limits"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(limits)) {
		fields := strings.Fields(strings.TrimPrefix(line, "Max open files"))
		if !strings.HasPrefix(line, "Max open files") || len(fields) == 0 {
			continue
		}
		limit, err := strconv.Atoi(fields[0])
		if err != nil { // unlimited
			return &check{"server files", checkOK, fmt.Sprintf("%d are open", len(open))}
		}
		c := &check{"server files", checkOK, fmt.Sprintf("%d of %d are open", len(open), limit)}
		if len(open)*5 > limit*4 {
			c.Status = checkBad
			c.Detail += ": new clients and agents will fail soon; raise ulimit -n and restart it"
		}
		return c
	}
	return nil
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
	if needed := host.NeededFiles(server.Limits{}.Sockets()); limit < needed {
		c.Status = checkNote
		c.Detail += fmt.Sprintf(": the default limit of clients needs %d; raise ulimit -n", needed)
	}
	return c
}
