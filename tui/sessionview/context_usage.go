package sessionview

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
	"agentctl/tui/usage"
)

// usageTurns is how many past turns are requested for the history of the context.
const usageTurns = 50

// contextUsage is what is known of the agent's context and of its compactions.
type contextUsage struct {
	replica      *replica
	commands     *commander
	now          func() time.Time
	tracker      usage.Tracker
	historyEpoch string // epoch whose past turns the tracker knows
	compaction   compaction
}

// compaction is the last one that the user asked for.
type compaction struct {
	sending bool
	result  *protocol.ContextCompactedData
	err     string
}

// usageHistoryMsg brings the events of past turns.
type usageHistoryMsg struct {
	epoch  string
	events []*protocol.Event
}

// reset starts over from the state of the replica.
func (u *contextUsage) reset() {
	u.tracker.Reset(u.replica.state)
	u.historyEpoch = ""
}

// requestHistory requests the turns before the first that the tracker knows, once for a log.
func (u *contextUsage) requestHistory() tea.Cmd {
	epoch := u.replica.epoch
	if u.historyEpoch == epoch || u.replica.state.Turns == 0 {
		return nil
	}
	u.historyEpoch = epoch
	return u.commands.tasks.Run(func(ctx context.Context) tea.Msg {
		var page protocol.HistoryResult
		err := u.commands.session.Do(ctx, protocol.DoHistory, protocol.HistoryData{Limit: usageTurns}, &page)
		if err != nil || page.Epoch != "" && page.Epoch != epoch {
			return nil // the history begins now
		}
		msg := usageHistoryMsg{epoch: epoch}
		for _, raw := range page.Events {
			e := new(protocol.Event)
			if json.Unmarshal(raw, e) == nil && usage.AffectsHistory(e.Type) {
				msg.events = append(msg.events, e)
			}
		}
		return msg
	})
}

// addHistory takes the events of past turns.
func (u *contextUsage) addHistory(msg usageHistoryMsg) {
	if msg.epoch == u.replica.epoch {
		u.tracker.Prepend(msg.events)
	}
}

// speed returns how fast the agent writes, or "".
func (u *contextUsage) speed(unit string) string {
	rate, estimated, ok := u.tracker.TokenRate(u.now())
	switch {
	case !ok || u.replica.state.Turn == nil:
		return ""
	case estimated:
		return fmt.Sprintf("≈%.0f", rate) + unit
	}
	return fmt.Sprintf("%.0f", rate) + unit
}

// compact asks the agent to compact its context.
func (u *contextUsage) compact() tea.Cmd {
	u.compaction = compaction{sending: true}
	result := new(protocol.CompactResult)
	return u.commands.do(protocol.DoCompact, protocol.Empty{}, result, func(err error) tea.Cmd {
		u.compaction = compaction{result: &result.Compacted}
		switch {
		case err == nil:
			u.commands.status.Text = "context compacted: " + compactionText(&result.Compacted)
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

// compactionText says what a compaction did.
func compactionText(d *protocol.ContextCompactedData) string {
	s := fmt.Sprintf("%s → %s tokens", ui.Thousands(d.Before), ui.Thousands(d.After))
	if percent := cmp.Or(d.Percent, 100*float64(d.Before-d.After)/float64(max(d.Before, 1))); percent > 0 {
		s += fmt.Sprintf(" (%.0f%% less)", percent)
	}
	return s
}

// contextPage is an overlay that shows context usage, now and turn by turn.
type contextPage struct {
	styles     *ui.Styles
	usage      *contextUsage
	answer     *protocol.ContextResult // where events do not tell
	unknown    string                  // why nothing is known
	confirming bool                    // the next compact key compacts
}

// open opens the page and requests what it does not know.
func (u *contextUsage) open(s *ui.Styles) (*contextPage, tea.Cmd) {
	page := &contextPage{styles: s, usage: u}
	cmds := []tea.Cmd{u.requestHistory()}
	if u.replica.state.Context == nil {
		answer := new(protocol.ContextResult)
		cmds = append(cmds, u.commands.do(protocol.DoContext, protocol.Empty{}, answer, func(err error) tea.Cmd {
			switch {
			case err == nil:
				page.answer = answer
			case protocol.CodeOf(err) == protocol.CodeUnsupported:
				page.unknown = "This agent does not report its context usage."
			default:
				page.unknown = remote.ErrorText(err)
			}
			return nil
		}))
	}
	return page, tea.Batch(cmds...)
}

func (p *contextPage) Scope() keymap.Scope { return keymap.Context }
func (p *contextPage) FullScreen() bool    { return true }

func (p *contextPage) Update(msg tea.Msg) ui.Response {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return ui.Response{}
	}
	keys, key := p.styles.Keys, press.String()
	confirmed := p.confirming
	p.confirming = false
	switch keys.InList(keymap.Context, key) {
	case keymap.Back:
		return ui.Response{Close: !confirmed}
	case keymap.Compact:
		switch {
		case p.usage.compaction.sending:
		case confirmed:
			return ui.Response{Cmd: p.usage.compact()}
		default:
			p.confirming = true
		}
		return ui.Response{}
	}
	return ui.Response{Close: keys.At(keymap.Global, key) == keymap.ShowContext}
}
