package contextview

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/turns"
	"agentctl/tui/ui"
	"agentctl/tui/usage"
)

// Usage tracks the agent's context usage and its compactions.
type Usage struct {
	panel.Base
	now        func() time.Time // of the session
	turns      *turns.Turns
	speed      usage.Speed
	compaction compaction
}

// compaction is the state of the last compaction that the user started.
type compaction struct {
	sending bool
	result  *protocol.ContextCompactedData
	err     string
}

// New returns the usage of a session, which reads the last compaction from its turns. now is the time of
// the session: in a recording it differs from the time at which events arrive.
func New(b panel.Base, t *turns.Turns, now func() time.Time) *Usage {
	return &Usage{Base: b, turns: t, now: now}
}

// Apply applies an event that was applied to the turns.
func (u *Usage) Apply(e *protocol.Event) {
	if e.Durable() {
		u.speed.Apply(e, u.turns.Added(), u.Now(), u.Replica.CaughtUp)
	}
}

// Reset starts again from the state of the replica.
func (u *Usage) Reset() { u.speed.Reset(u.Replica.State) }

// Speed returns the agent's output in tokens per second, followed by unit. It returns "" if the
// speed is unknown or no turn is running.
func (u *Usage) Speed(unit string) string {
	rate, estimated, ok := u.speed.TokenRate(u.now())
	switch {
	case !ok || u.Replica.State.Turn == nil:
		return ""
	case estimated:
		return fmt.Sprintf("≈%.0f", rate) + unit
	}
	return fmt.Sprintf("%.0f", rate) + unit
}

// compact requests a compaction of the context.
func (u *Usage) compact() tea.Cmd {
	u.compaction = compaction{sending: true}
	result := new(protocol.CompactResult)
	return u.Commands.Send(protocol.DoCompact, protocol.Empty{}, result, func(err error) tea.Cmd {
		u.compaction = compaction{result: &result.Compacted}
		switch {
		case err == nil:
			effect := describe.Compaction(&result.Compacted, format.Thousands)
			u.Commands.Status.Text = "context compacted" + ui.Prefixed(": ", effect)
		case protocol.CodeOf(err) == protocol.CodeUnsupported:
			u.compaction = compaction{
				err: "This agent cannot compact its context. A new session begins with an empty one.",
			}
		default:
			u.compaction = compaction{err: remote.ErrorText(err)}
		}
		return nil
	})
}
