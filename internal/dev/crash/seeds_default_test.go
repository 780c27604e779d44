//go:build linux && !crash

package crash

import (
	"testing"

	"agentctl/internal/dev/thorough"
)

// seedCount returns the number of seeds to run. The agents of seed 0 are stubborn.
func seedCount(*testing.T) uint64 { return uint64(thorough.Rounds(2, 5)) }

// stubbornKills is the number of kills of a trial with stubborn agents. Each one costs the grace
// period that the next server gives their processes.
const stubbornKills = 1

// stubbornStop makes a trial with stubborn agents end with a shutdown, which costs the full grace
// period of the ACP agent. The tests of server/agent/acp and the seeds of -tags crash cover it.
const stubbornStop = false

// stubbornMessages is the number of messages sent to each session of a stubborn trial.
const stubbornMessages = 3

// modelKills is the number of kills of a server with a model's agent.
var modelKills = thorough.Rounds(2, 4)

// codingTasks is the number of pairs of APIs that do the coding task. Two have every API.
var codingTasks = thorough.Rounds(2, 3)
