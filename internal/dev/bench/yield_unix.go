//go:build unix

package main

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// yield gives the threads of this program the lowest priority, for good: clients run on other
// machines, and shall not take the processors of the server. Servers that run keep theirs.
func yield() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range threads {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.Setpriority(unix.PRIO_PROCESS, id, 19); err != nil {
			return fmt.Errorf("priority of the load generator: %w", err)
		}
	}
	return nil
}
