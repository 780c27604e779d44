//go:build !darwin

package sqlite

import (
	"os"
	"runtime"
	"strings"
)

// bootID returns an id that changes with every boot of the operating system, or "" where the boot is
// unknown, so that only a clean close is trusted.
func bootID() (string, error) {
	if runtime.GOOS != "linux" {
		return "", nil
	}
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b)), err
}
