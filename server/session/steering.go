package session

import (
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

func init() {
	handlers[protocol.DoQueueSteer] = func(s *Session, cmd *command) (any, error) {
		result, err := queueHandler((*queue.Queue).Steer)(s, cmd)
		if r, ok := result.(protocol.SendResult); ok && s.turn != nil && s.state.Turn.Message.MessageID == r.MessageID {
			return protocol.SendResult{Status: protocol.SendStarted, MessageID: r.MessageID, Turn: s.turn.id}, nil
		}
		return result, err
	}
}

// A steering hands queued messages to the agent of a turn that runs. A message is recorded as sent, and
// committed, before the agent gets it.
type steering struct {
	// Static after construction.
	mail    *mailbox
	turn    *turn
	waiting chan struct{} // capacity 1

	// Owned by the session's goroutine.
	again     []protocol.Message // sent before a restart to an agent that has not recorded them
	unwritten []protocol.Message // recorded as sent, not committed yet
}

var _ agent.Steering = (*steering)(nil)

func newSteering(mail *mailbox, t *turn) *steering {
	return &steering{mail: mail, turn: t, waiting: make(chan struct{}, 1)}
}

// Waiting implements agent.Steering.
func (g *steering) Waiting() <-chan struct{} { return g.waiting }

// A steered is the result of Take.
type steered struct {
	messages []protocol.Message
	err      error
}

// Take implements agent.Steering. It waits for the commit even if the turn is interrupted: what was sent
// must reach the agent.
func (g *steering) Take() ([]protocol.Message, error) {
	result := make(chan steered, 1)
	take := func(s *Session) { g.hand(s, result) }
	if err := g.mail.emit(&agentMessage{turn: g.turn, do: take}); err != nil {
		return nil, err
	}
	select {
	case r := <-result:
		return r.messages, r.err
	case <-g.turn.done:
	case <-g.mail.done:
	}
	select {
	case r := <-result:
		return r.messages, r.err
	default:
		return nil, errTurnOver
	}
}

// Resolve implements agent.Steering.
func (g *steering) Resolve(d protocol.MessageResolvedData, save []byte) error {
	d.Reason = protocol.SplitText(protocol.ValidText(d.Reason), record.LongText)[0]
	resolve := func(s *Session) { s.recorder.RecordAll(s.queue.ResolveSteered(s.state, d)...) }
	return g.mail.emitState(&agentMessage{turn: g.turn, do: resolve}, save)
}

// offer wakes the agent if a message may join the turn. A nil steering is of a turn without an agent.
func (g *steering) offer(st *protocol.State) {
	if g == nil || len(g.again) == 0 && !queue.Steerable(st) {
		return
	}
	select {
	case g.waiting <- struct{}{}:
	default:
	}
}

// hand records the messages that join the turn, and hands them to the agent once that is durable.
func (g *steering) hand(s *Session, result chan<- steered) {
	if g.turn.reason != "" { // interrupted since the agent asked
		result <- steered{}
		return
	}
	taken, events := s.queue.TakeSteered(s.state)
	s.recorder.RecordAll(events...)
	taken = append(g.again, taken...)
	g.again, g.unwritten = nil, append(g.unwritten, taken...)
	if len(taken) == 0 {
		result <- steered{}
		return
	}
	s.journal.AfterCommit(func(failed error) {
		if failed != nil || s.turn != g.turn {
			result <- steered{err: errTurnOver}
			return
		}
		g.unwritten = g.unwritten[len(taken):]
		result <- steered{messages: taken}
	})
}

// left returns the messages that the agent did not get. A nil steering has none.
func (g *steering) left() []protocol.Message {
	if g == nil {
		return nil
	}
	return append(g.unwritten, g.again...)
}

// cannotSteer returns why a turn takes no message of a user; empty: it may.
func cannotSteer(t *turn, a agent.Agent) string {
	switch s, ok := a.(agent.Steerer); {
	case t == nil:
		return "no turn is running"
	case t.reason != "":
		return "the turn is being stopped"
	case !ok || !s.Steers():
		return "the agent takes no messages during a turn"
	}
	return ""
}
