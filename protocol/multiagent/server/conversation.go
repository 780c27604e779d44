package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A conversation is a session that the foreign client uses. It encodes the session's events; its
// methods return the frames to send, in order.
type conversation struct {
	id            string // the client's name for it
	session       string // empty until known
	ready         bool   // caught up
	waiting       []func(*conversation)
	seq           uint64 // of the last event
	resubscribing bool   // events repeat known ones until the subscription restarts
	agent         string // of the session
	thinking      bool   // the client requested reasoning
	chat          *chat  // the client uses legacy messages; nil: it does not

	keys      map[string]string // of user messages whose turn has not begun, by message id
	turn      *turn             // nil: none
	approvals openApprovals
}

// catchUp carries out the messages that waited for the past events.
func (c *conversation) catchUp() {
	c.ready = true
	waiting := c.waiting
	c.waiting = nil
	for _, do := range waiting {
		do(c)
	}
}

// load starts from the state of a snapshot.
func (c *conversation) load(st *protocol.State) (frames []codec.Frame) {
	c.seq, c.agent, c.turn, c.approvals = st.Seq, st.Agent, nil, nil
	if st.Turn != nil {
		c.turn = newTurn(st.Turn.Turn, c.agent, &st.Turn.Message)
		for i := range st.Turn.Tools {
			open := &st.Turn.Tools[i]
			call := c.turn.tool(open.Tool)
			call.name, call.title, call.kind = open.Name, open.Title, open.Kind
		}
	}
	for i := range st.Approvals {
		frames = append(frames, c.ask(&st.Approvals[i]))
	}
	return frames
}

// frame returns a frame that names the conversation.
func (c *conversation) frame(kind string, payload any) codec.Frame {
	return wire.Frame{Type: kind, Conversation: c.id, Payload: payload}.Encode()
}

// thought returns a frame with a thought of an agent.
func (c *conversation) thought(agent, text string) codec.Frame {
	return wire.Frame{
		Type:    wire.TypeThought,
		Payload: wire.WorkflowThought{ID: agent, Agent: agent, Conversation: c.id, Reason: text},
	}.Encode()
}

// failure returns an error that names the conversation.
func (c *conversation) failure(code, message string) codec.Frame {
	return wire.NewError(c.id, code, message).Encode()
}

// answer returns the answer to a message with a key.
func (c *conversation) answer(key string, a wire.Answer) codec.Frame {
	return wire.Frame{Type: wire.TypeAnswer, Conversation: c.id, Request: key, Payload: a}.Encode()
}

// answerSend returns the answer to a user message with a key. If the turn of the message begins later,
// a second answer follows then.
func (c *conversation) answerSend(key string, r *protocol.SendResult, err *protocol.Error) codec.Frame {
	a := wire.Answer{Error: err}
	switch {
	case err != nil:
	case c.turn != nil && c.turn.message == r.MessageID:
		a.Turn = wire.TurnBegun
	case r.Status == protocol.SendQueued:
		a.Turn = wire.TurnQueued
	case r.Seq <= c.seq:
		a.Turn, a.Output = wire.TurnOver, r.Turn
	default:
		a.Turn = wire.TurnBegins
	}
	if (a.Turn == wire.TurnQueued || a.Turn == wire.TurnBegins) && len(c.keys) < maxQueuedMessages {
		c.keys[r.MessageID] = key
	}
	return c.answer(key, a)
}

// begin begins the turn of a user message.
func (c *conversation) begin(turn string, m *protocol.Message) []codec.Frame {
	c.turn = newTurn(turn, c.agent, m)
	return c.answerBegun(m.MessageID)
}

// answerBegun answers a user message with a key that the current turn is its turn.
func (c *conversation) answerBegun(message string) []codec.Frame {
	key := c.keys[message]
	if key == "" {
		return nil
	}
	delete(c.keys, message)
	return []codec.Frame{c.answer(key, wire.Answer{Turn: wire.TurnBegun})}
}
