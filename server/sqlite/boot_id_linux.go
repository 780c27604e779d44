package sqlite

import (
	"os"
	"strings"
)

// bootID returns an id that changes with every boot of the operating system.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}
