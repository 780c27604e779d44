//go:build linux

package soak

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A usage is what a process holds.
type usage struct {
	RSS, Peak  int64          // MiB
	Heap       int64          // MiB alive after the last collection
	Files      int            // open descriptors, sockets included
	Sockets    int            // of them
	Goroutines map[string]int // by the function that created them
}

// readUsage reads everything but the goroutines. trace is the process's standard error, with the
// lines of GODEBUG=gctrace=1.
func readUsage(pid int, trace string) (u usage, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kib); n == 1 {
			u.RSS = kib >> 10
		}
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			u.Peak = kib >> 10
		}
	}
	names, err := os.ReadDir(dir + "fd")
	if err != nil {
		return u, err
	}
	u.Files = len(names)
	for _, name := range names {
		target, _ := os.Readlink(dir + "fd/" + name.Name()) // fails if it was closed since then
		if strings.HasPrefix(target, "socket:") {
			u.Sockets++
		}
	}
	if all := collection.FindAllStringSubmatch(trace, -1); len(all) > 0 {
		u.Heap, err = strconv.ParseInt(all[len(all)-1][1], 10, 64)
	}
	return u, err
}

// collection matches a line of gctrace; its group is the heap that is alive, in MiB.
var collection = regexp.MustCompile(`(?m)^gc \d+ @.* \d+->\d+->(\d+) MB, `)

// collections returns the number of garbage collections.
func collections(trace string) int { return len(collection.FindAllStringIndex(trace, -1)) }

// countGoroutines counts the goroutines of a trace of all stacks by the function that created them.
func countGoroutines(dump string) map[string]int {
	counts := map[string]int{}
	for _, stack := range goroutineHeader.Split(dump, -1)[1:] {
		by := "main"
		if _, rest, ok := strings.Cut(stack, "\ncreated by "); ok {
			by, _, _ = strings.Cut(rest, "\n")
			by, _, _ = strings.Cut(by, " in goroutine ")
		}
		counts[by]++
	}
	return counts
}

var goroutineHeader = regexp.MustCompile(`(?m)^goroutine \d+.*\[[^\]]*\]:$`)

func (u *usage) goroutines() (n int) {
	for _, count := range u.Goroutines {
		n += count
	}
	return n
}

func (u *usage) String() string {
	return fmt.Sprintf("heap %d MiB, resident %d MiB (peak %d), %d descriptors (%d sockets), %d goroutines",
		u.Heap, u.RSS, u.Peak, u.Files, u.Sockets, u.goroutines())
}

// An allowance is what a process may hold more than before.
type allowance struct {
	Heap       int64 // MiB
	Files      int
	Goroutines int // of each creator
}

// leaks returns a sentence for everything that a process holds more than before.
func leaks(before, after *usage, allowed allowance) (found []string) {
	if grown := after.Heap - before.Heap; grown > allowed.Heap {
		found = append(found, fmt.Sprintf("the heap grew by %d MiB from %d; at most %d are the logs of the sessions",
			grown, before.Heap, allowed.Heap))
	}
	if n := after.Sockets - before.Sockets; n > 0 {
		found = append(found, fmt.Sprintf("%d sockets more than the %d before", n, before.Sockets))
	}
	if n := after.Files - before.Files; n > allowed.Files {
		found = append(found, fmt.Sprintf("%d descriptors more than the %d before", n, before.Files))
	}
	for _, by := range slices.Sorted(maps.Keys(after.Goroutines)) {
		if n := after.Goroutines[by] - before.Goroutines[by]; n > allowed.Goroutines {
			found = append(found, fmt.Sprintf(
				"%d goroutines of %s more than the %d before", n, by, before.Goroutines[by],
			))
		}
	}
	return found
}
