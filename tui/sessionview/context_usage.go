package sessionview

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/ui"
	"agentctl/tui/usage"
)

// usageTurns is the number of past turns requested for the usage history.
const usageTurns = 50

// contextUsage tracks the agent's context usage and its compactions.
type contextUsage struct {
	replica      *replica.Session
	commands     *request.Sender
	now          func() time.Time
	tracker      usage.Tracker
	historyEpoch string // epoch whose history was requested
	compaction   compaction
}

// compaction is the state of the last compaction that the user started.
type compaction struct {
	sending bool
	result  *protocol.ContextCompactedData
	err     string
}

// usageHistoryMsg carries the events of past turns that affect the usage history.
type usageHistoryMsg struct {
	epoch  string
	events []*protocol.Event
}

// reset rebuilds the history from the state of the replica.
func (u *contextUsage) reset() {
	u.tracker.Reset(u.replica.State)
	u.historyEpoch = ""
}

// requestHistory requests the turns before those of the tracker, once per epoch.
func (u *contextUsage) requestHistory() tea.Cmd {
	epoch := u.replica.Epoch
	if u.historyEpoch == epoch || u.replica.State.Turns == 0 {
		return nil
	}
	u.historyEpoch = epoch
	return u.commands.Tasks.Run(func(ctx context.Context) tea.Msg {
		var page protocol.HistoryResult
		err := u.commands.Session.Do(ctx, protocol.DoHistory, protocol.HistoryData{Limit: usageTurns}, &page)
		if err != nil || page.Epoch != "" && page.Epoch != epoch {
			return nil // the history stays incomplete
		}
		msg := usageHistoryMsg{epoch: epoch}
		for e, err := range page.Decoded() {
			if err == nil && usage.AffectsHistory(e.Type) {
				msg.events = append(msg.events, e)
			}
		}
		return msg
	})
}

// addHistory adds the events of past turns, unless the epoch has changed.
func (u *contextUsage) addHistory(msg usageHistoryMsg) {
	if msg.epoch == u.replica.Epoch {
		u.tracker.Prepend(msg.events)
	}
}

// speed returns the agent's output in tokens per second, followed by unit. It returns "" if the
// speed is unknown or no turn is running.
func (u *contextUsage) speed(unit string) string {
	rate, estimated, ok := u.tracker.TokenRate(u.now())
	switch {
	case !ok || u.replica.State.Turn == nil:
		return ""
	case estimated:
		return fmt.Sprintf("≈%.0f", rate) + unit
	}
	return fmt.Sprintf("%.0f", rate) + unit
}

// compact requests a compaction of the context.
func (u *contextUsage) compact() tea.Cmd {
	u.compaction = compaction{sending: true}
	result := new(protocol.CompactResult)
	return u.commands.Send(protocol.DoCompact, protocol.Empty{}, result, func(err error) tea.Cmd {
		u.compaction = compaction{result: &result.Compacted}
		switch {
		case err == nil:
			effect := describe.Compaction(&result.Compacted, format.Thousands)
			u.commands.Status.Text = "context compacted" + ui.Prefixed(": ", effect)
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
