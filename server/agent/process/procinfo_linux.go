package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Indexes into the fields of /proc/PID/stat that follow the program's name. proc(5) numbers fields
// from 1; the name is field 2. It is in parentheses and may contain any byte, parentheses included.
const (
	statState  = 0 // field 3
	statParent = 4 - 3
	statGroup  = 5 - 3
	statTicks  = 22 - 3
)

// procStat returns the fields after the program's name, or nil when there is no such process.
func procStat(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) <= statTicks {
		return nil
	}
	return fields
}

// startTime returns "BOOT TICKS", or "" when there is no such process. Ticks count from boot, so
// the boot id is included.
func startTime(pid int) string {
	if f := procStat(pid); f != nil {
		return bootID() + " " + f[statTicks]
	}
	return ""
}

// descendants returns the children of a process, their children, and so on.
func descendants(pid int) []Group {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	boot := bootID()
	children := map[int][]Group{}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := procStat(id); f != nil {
			parent, _ := strconv.Atoi(f[statParent])
			children[parent] = append(children[parent], Group{PID: id, Start: boot + " " + f[statTicks]})
		}
	}
	return subtree(pid, children)
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(b))
}

// isCurrent reports whether the number still belongs to this group. Within one boot the leader may
// be gone: its number is not reused while the group has members.
func (g Group) isCurrent() bool {
	boot, _, _ := strings.Cut(g.Start, " ")
	now := startTime(g.PID)
	return boot == bootID() && (now == "" || now == g.Start)
}

// groupRunning reports whether any process of a group runs. Zombies do not count: in a container
// whose first process reaps no children they stay for ever.
func groupRunning(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := procStat(id); f != nil && f[statGroup] == strconv.Itoa(group) && f[statState] != "Z" {
			return true
		}
	}
	return false
}
