package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// sendNow has a queued message start at once: it goes first, a queue that is held
// is released, and the turn under way is interrupted, which keeps the others
// queued behind it. It goes no further than what is refused.
func (m *model) sendNow(message protocol.Message) tea.Cmd {
	id, s := message.MessageID, m.state
	if m.queue.asking[id] != "" {
		return nil
	}
	type step struct {
		verb protocol.Verb
		data any
	}
	var steps []step
	if s.Queued(id) > 0 {
		steps = append(steps, step{protocol.DoQueueMove, protocol.QueueMoveData{MessageID: id, Index: 0}})
	}
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Reason != protocol.HoldEdit || h.MessageID == id {
			steps = append(steps, step{protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}})
		}
	}
	if s.Turn != nil {
		steps = append(steps, step{protocol.DoInterrupt, protocol.InterruptData{Turn: s.Turn.Turn, Queue: protocol.QueueKeep}})
	}
	m.queue.asking[id] = "sending now"
	return m.errands.run(func(ctx context.Context) tea.Msg {
		var err error
		for _, do := range steps {
			if err = m.session.Do(ctx, do.verb, do.data, nil); err != nil {
				break
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		return doneMsg{err, func(err error) tea.Cmd {
			delete(m.queue.asking, id)
			return m.tell(err)
		}}
	})
}
