package tui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/usage"
)

// meteredTurns is how many turns are asked for, to tell how the context was in them.
const meteredTurns = 50

// contextPage is how full the agent's context is, now and turn by turn, and what
// was used. It has the screen for itself.
type contextPage struct {
	told   *protocol.ContextResult // where events do not tell
	none   string                  // why nothing is known
	asking bool                    // whether the context shall be made smaller
}

// compaction is the last one that the person wanted.
type compaction struct {
	sending bool
	did     *protocol.ContextCompactedData
	err     string
}

// showContext shows the page, and asks for what it does not know: past turns,
// and how full the context is where no event told.
func (m *model) showContext() tea.Cmd {
	page := &contextPage{}
	m.context = page
	cmds := []tea.Cmd{m.askPast()}
	if m.state.Context == nil {
		told := new(protocol.ContextResult)
		cmds = append(cmds, m.do(protocol.DoContext, protocol.Empty{}, told, func(err error) tea.Cmd {
			switch {
			case err == nil:
				page.told = told
			case protocol.CodeOf(err) == protocol.CodeUnsupported:
				page.none = "This agent does not tell how full its context is."
			default:
				page.none = errText(err)
			}
			return nil
		}))
	}
	return tea.Batch(cmds...)
}

// askPast asks for turns before the first that the meter knows, once for a log.
func (m *model) askPast() tea.Cmd {
	if m.pastOf == m.epoch || m.state.Turns == 0 {
		return nil
	}
	m.pastOf = m.epoch
	epoch := m.epoch
	return m.errands.run(func(ctx context.Context) tea.Msg {
		var page protocol.HistoryResult
		if err := m.session.Do(ctx, protocol.DoHistory, protocol.HistoryData{Limit: meteredTurns}, &page); err != nil || page.Epoch != "" && page.Epoch != epoch {
			return nil // it shows from now on
		}
		msg := meteredMsg{epoch: epoch}
		for _, raw := range page.Events {
			e := new(protocol.Event)
			if json.Unmarshal(raw, e) == nil && usage.AffectsHistory(e.Type) {
				msg.past = append(msg.past, e)
			}
		}
		return msg
	})
}

func (m *model) metered(msg meteredMsg) {
	if msg.epoch == m.epoch {
		m.meter.Prepend(msg.past)
	}
}

// key handles a key while the page is on the screen.
func (p *contextPage) key(m *model, key string) tea.Cmd {
	keys := m.look.keys
	asked := p.asking
	p.asking = false
	switch keys.in(inContext, key) {
	case doBack:
		if !asked {
			m.context = nil
		}
	case doCompact:
		if m.compaction.sending {
			return nil
		}
		if !asked {
			p.asking = true
			return nil
		}
		return m.compact()
	default:
		if does := keys.at(everywhere, key); does == doContext {
			m.context = nil
		}
	}
	return nil
}

// compact has the agent make its context smaller.
func (m *model) compact() tea.Cmd {
	m.compaction = compaction{sending: true}
	did := new(protocol.CompactResult)
	return m.do(protocol.DoCompact, protocol.Empty{}, did, func(err error) tea.Cmd {
		m.compaction = compaction{did: &did.Compacted}
		switch {
		case err == nil:
			m.word = "context compacted: " + less(&did.Compacted)
		case protocol.CodeOf(err) == protocol.CodeUnsupported:
			m.compaction = compaction{err: "This agent cannot make its context smaller. A new session begins with an empty one."}
		default:
			m.compaction = compaction{err: errText(err)}
		}
		return nil
	})
}

// less is what a compaction did.
func less(d *protocol.ContextCompactedData) string {
	s := fmt.Sprintf("%s → %s tokens", thousands(d.Before), thousands(d.After))
	if percent := cmp.Or(d.Percent, 100*float64(d.Before-d.After)/float64(max(d.Before, 1))); percent > 0 {
		s += fmt.Sprintf(" (%.0f%% less)", percent)
	}
	return s
}
