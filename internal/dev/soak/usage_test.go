//go:build linux

package soak

import (
	"maps"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// ownUsage returns what this process holds. Its heap is the heap in trace.
func ownUsage(t *testing.T, trace string) *usage {
	t.Helper()
	u, err := readUsage(os.Getpid(), trace)
	if err != nil {
		t.Fatal(err)
	}
	dump := make([]byte, 1<<20)
	u.Goroutines = countGoroutines(string(dump[:runtime.Stack(dump, true)]))
	return &u
}

const trace = `time=2026-01-01T00:00:00Z level=INFO msg="agent" stderr="gc 1 @0.1s 1%: 1 ms clock, 70->80->90 MB, 1 MB goal"
gc 1 @0.013s 3%: 0.02+1.2+0.05 ms clock, 0.05+0.3/1.1/0+0.1 ms cpu, 3->4->2 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P
gc 2 @1.013s 3%: 0.02+1.2+0.05 ms clock, 0.05+0.3/1.1/0+0.1 ms cpu, 30->31->12 MB, 40 MB goal, 0 MB stacks, 0 MB globals, 2 P
`

func TestLeftSocketsAndGoroutinesAreFound(t *testing.T) {
	const many = 10
	before := ownUsage(t, trace)
	if before.Heap != 12 || collections(trace) != 2 || before.RSS == 0 || before.Peak < before.RSS || before.Files < 3 {
		t.Errorf("read %s", before)
	}
	if found := leaks(before, ownUsage(t, trace), allowance{Files: 4, Goroutines: 3}); len(found) > 0 {
		t.Errorf("nothing leaks; found %q", found)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	leave := make(chan struct{})
	for range many {
		go func() { <-leave }()
	}
	after := ownUsage(t, trace+"gc 3 @2s 3%: 0 ms clock, 0 ms cpu, 90->91->60 MB, 40 MB goal\n")
	close(leave)
	found := strings.Join(leaks(before, after, allowance{Heap: 47, Files: 4, Goroutines: 3}), "\n")
	for _, want := range []string{
		"the heap grew by 48 MiB from 12",
		"1 sockets more than the ",
		"10 goroutines of agentctl/internal/dev/soak.TestLeftSocketsAndGoroutinesAreFound more than the 0 before",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("found %q, want %q in it; goroutines %v", found, want, slices.Sorted(maps.Keys(after.Goroutines)))
		}
	}
	if found := leaks(before, after, allowance{Heap: 48, Files: 4, Goroutines: 3}); len(found) != 2 {
		t.Errorf("found %q, want sockets and goroutines", found)
	}
}
