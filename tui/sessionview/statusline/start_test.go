package statusline

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestTheLineShowsTheStepOfTheStartOfTheAgent(t *testing.T) {
	l := open(t, tuitest.NewJournal(), false, "")
	l.Journal.CaughtUp()
	l.applyJournal()
	l.MustShow("idle")
	since := l.line.Now().Add(-12 * time.Second)
	step := since.Add(4 * time.Second)
	l.Journal.Ephemeral(protocol.AgentProcessChanged, protocol.AgentProcess{
		Phase: protocol.ProcessStarting, Since: &since, Step: protocol.StepSession, StepAt: &step,
	})
	l.applyJournal()
	l.MustShow("◌ the agent starts: session 8s, 12s in all")
	l.Journal.Ephemeral(protocol.AgentProcessChanged, protocol.AgentProcess{Phase: protocol.ProcessRunning})
	l.applyJournal()
	l.MustHide("starts")
}
