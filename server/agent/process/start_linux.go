package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Fields of /proc/PID/stat after the program's name, which stands in parentheses and may hold anything, more of them
// included. The manual numbers them from 1 and the name is the second.
const (
	statParent = 4 - 3
	statTicks  = 22 - 3
)

func stat(pid int) []string {
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

// startTime is "BOOT TICKS": the clock of ticks begins anew with each boot. "" when there is no such process.
func startTime(pid int) string {
	if f := stat(pid); f != nil {
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
		if f := stat(id); f != nil {
			parent, _ := strconv.Atoi(f[statParent])
			children[parent] = append(children[parent], Group{PID: id, Start: boot + " " + f[statTicks]})
		}
	}
	return below(pid, children)
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "unknown"
	}
	return string(bytes.TrimSpace(b))
}

// still reports whether the number still means this group. A leader that is gone does not matter within one boot: its
// number is not given out again as long as the group has members.
func (g Group) still() bool {
	boot, _, _ := strings.Cut(g.Start, " ")
	now := startTime(g.PID)
	return boot == bootID() && (now == "" || now == g.Start)
}
