//go:build linux && crash

package crash

import (
	"os"
	"strconv"
	"testing"
)

// seedCount returns the number of seeds to run.
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

// stubbornKills is the number of kills of a trial with stubborn agents.
const stubbornKills = 3

// stubbornStop makes a trial with stubborn agents end with a shutdown.
const stubbornStop = true

// stubbornMessages is the number of messages sent to each session of a stubborn trial.
const stubbornMessages = 6

// modelKills is the number of kills of a server with a model's agent.
const modelKills = 50

// codingTasks is the number of pairs of APIs that do the coding task.
const codingTasks = 3
