//go:build linux && crash

package crash

import (
	"os"
	"strconv"
	"testing"
)

// seedCount is how many servers are tried.
func seedCount(t *testing.T) uint64 {
	text := os.Getenv("AGENTCTL_CRASH_SEEDS")
	if text == "" {
		return 50
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatalf("AGENTCTL_CRASH_SEEDS: %v", err)
	}
	return n
}
