package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// command is something asked of a session.
type command struct {
	verb protocol.Verb
	data any
}

// startNow is what has a queued message start at once: it goes first, a queue that
// is held is released, and the turn under way is interrupted, which keeps the
// others queued behind it.
func startNow(s *protocol.State, message string) []command {
	var out []command
	if s.QueueIndex(message) > 0 {
		out = append(out, command{protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message, Index: 0}})
	}
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Reason != protocol.HoldEdit || h.MessageID == message {
			out = append(out, command{protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}})
		}
	}
	if s.Turn != nil {
		out = append(out, command{protocol.DoInterrupt, protocol.InterruptData{Turn: s.Turn.Turn, Queue: protocol.QueueKeep}})
	}
	return out
}

// carryOut does commands one after another, no further than what is refused.
func carryOut(ctx context.Context, s Session, commands []command) error {
	for _, c := range commands {
		if err := s.Do(ctx, c.verb, c.data, nil); err != nil {
			return err
		}
	}
	return nil
}

// sendNow starts a queued message at once.
func (m *model) sendNow(message protocol.Message) tea.Cmd {
	id := message.MessageID
	if m.queue.asking[id] != "" {
		return nil
	}
	m.queue.asking[id] = "sending now"
	commands := startNow(m.state, id)
	return m.errands.run(func(ctx context.Context) tea.Msg {
		err := carryOut(ctx, m.session, commands)
		if ctx.Err() != nil {
			return nil
		}
		return doneMsg{err, func(err error) tea.Cmd {
			delete(m.queue.asking, id)
			return m.tell(err)
		}}
	})
}
