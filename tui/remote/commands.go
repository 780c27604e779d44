package remote

import (
	"context"

	"agentctl/protocol"
)

// StartNow returns a function that starts a queued message now: it moves the message to the front,
// releases holds on the queue and interrupts the running turn. The other messages stay queued. The
// function stops at the first error.
func StartNow(s *protocol.State, message string) func(context.Context, Session) error {
	type command struct {
		verb protocol.Verb
		data any
	}
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
		data := protocol.InterruptData{Turn: s.Turn.Turn, Queue: protocol.QueueKeep}
		out = append(out, command{protocol.DoInterrupt, data})
	}
	return func(ctx context.Context, session Session) error {
		for _, c := range out {
			if err := session.Do(ctx, c.verb, c.data, nil); err != nil {
				return err
			}
		}
		return nil
	}
}
