package process

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// startTime is "BOOT TICKS": the clock of ticks begins anew with each boot. "" when there is no such process.
func startTime(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The second field is the program's name in parentheses and may hold anything, more of them included.
	rest := b[bytes.LastIndexByte(b, ')')+1:]
	fields := strings.Fields(string(rest))
	const ticks = 22 - 3 // the fields are numbered from 1, and rest begins with the third
	if len(fields) <= ticks {
		return ""
	}
	return bootID() + " " + fields[ticks]
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
