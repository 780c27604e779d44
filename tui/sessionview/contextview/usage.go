package contextview

import (
	"context"
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

// usageTurns is the number of past turns requested for the usage history.
const usageTurns = 50

// Usage tracks the agent's context usage and its compactions.
type Usage struct {
	panel.Base
	now          func() time.Time // of the session
	turns        *turns.Turns
	speed        usage.Speed
	historyEpoch string // epoch whose history was requested
	compaction   compaction
}

// compaction is the state of the last compaction that the user started.
type compaction struct {
	sending bool
	result  *protocol.ContextCompactedData
	err     string
}

// pastMsg carries the turns of a page of history, whose events are before a seq.
type pastMsg struct {
	epoch  string
	before uint64
	past   *turns.Turns
	older  uint64 // the next page has events before this seq
}

// New returns the usage of a session, which reads the context usage from its turns. now is the time of
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

// Update adds the history that was requested, and reports whether msg has it.
func (u *Usage) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	page, ok := msg.(pastMsg)
	if ok && page.epoch == u.Replica.Epoch && page.before == u.turns.OlderThan() {
		u.turns.Prepend(page.past, page.older)
	}
	return nil, ok
}

// Reset starts again from the state of the replica.
func (u *Usage) Reset() {
	u.speed.Reset(u.Replica.State)
	u.historyEpoch = ""
}

// requestHistory requests the turns before the known ones, once per epoch.
func (u *Usage) requestHistory() tea.Cmd {
	epoch, before := u.Replica.Epoch, u.turns.OlderThan()
	if u.historyEpoch == epoch || u.Replica.State.Turns == 0 {
		return nil
	}
	u.historyEpoch = epoch
	return u.Commands.Tasks.Run(func(ctx context.Context) tea.Msg {
		var page protocol.HistoryResult
		err := u.Commands.Session.Do(ctx, protocol.DoHistory, protocol.HistoryData{Before: before, Limit: usageTurns}, &page)
		if err != nil || page.Epoch != "" && page.Epoch != epoch {
			return nil // the history stays incomplete
		}
		past, err := turns.Past(&page)
		if err != nil {
			return nil
		}
		return pastMsg{epoch, before, past, page.OlderThan()}
	})
}

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
