package remote

import (
	"context"

	"agentctl/protocol"
)

// Command is a command to a session.
type Command struct {
	Verb protocol.Verb
	Data any
}

// StartNow returns the commands that start a queued message now. They move the message to the
// front, release holds on the queue and interrupt the running turn. The other messages stay queued.
func StartNow(s *protocol.State, message string) []Command {
	var out []Command
	if s.QueueIndex(message) > 0 {
		out = append(out, Command{protocol.DoQueueMove, protocol.QueueMoveData{MessageID: message, Index: 0}})
	}
	for i := range s.Holds {
		if h := &s.Holds[i]; h.Reason != protocol.HoldEdit || h.MessageID == message {
			out = append(out, Command{protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}})
		}
	}
	if s.Turn != nil {
		data := protocol.InterruptData{Turn: s.Turn.Turn, Queue: protocol.QueueKeep}
		out = append(out, Command{protocol.DoInterrupt, data})
	}
	return out
}

// RunAll runs commands in order and stops at the first error.
func RunAll(ctx context.Context, s Session, commands []Command) error {
	for _, c := range commands {
		if err := s.Do(ctx, c.Verb, c.Data, nil); err != nil {
			return err
		}
	}
	return nil
}
