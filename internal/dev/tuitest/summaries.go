package tuitest

import (
	"time"

	"agentctl/protocol"
)

// Summaries returns the summaries of five sessions, one for each state.
func Summaries() []protocol.Summary {
	asked := Start.Add(-3 * time.Minute)
	return []protocol.Summary{
		{
			Session: "s1",
			Name:    "docs",
			Agent:   "claude",
			Status:  protocol.Idle,
			Updated: Start,
			Reason:  protocol.ReasonCompleted,
			Title:   "Write the guide",
		},
		{
			Session:  "s2",
			Name:     "fix-tests",
			Agent:    "gemini",
			Status:   protocol.Running,
			Updated:  Start.Add(time.Minute),
			Doing:    "go test ./...",
			Queue:    2,
			Progress: protocol.Progress{Percent: 82},
		},
		{
			Session:   "s3",
			Name:      "release",
			Agent:     "codex",
			Status:    protocol.Waiting,
			Updated:   Start,
			Asked:     &asked,
			Approvals: 1,
			Doing:     "git push --tags",
			Queue:     1,
			Held:      true,
			Progress:  protocol.Progress{Percent: 38},
			CWD:       "/home/bob/site",
			Title:     "Ship it",
			Clients:   2,
		},
		{
			Session: "s4",
			Name:    "old\x1b[2J",
			Agent:   "x",
			Status:  protocol.Closed,
			Updated: Start.Add(-time.Hour),
		},
		{
			Session: "s5xyz789",
			Agent:   "claude",
			Status:  protocol.Idle,
			Updated: Start.Add(-time.Minute),
			Reason:  protocol.ReasonError,
			Error:   "the provider is overloaded",
		},
	}
}
