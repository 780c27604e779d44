package multiagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// Bounds of a conversation at our server's end.
const (
	maxQueuedMessages = 64      // messages until it is known
	maxOpenItems      = 1024    // tools and requests of a turn
	maxContent        = 4 << 20 // bytes of a message that message_complete repeats
	maxOutput         = 64 << 10
)

// A conversation is a session that a foreign client used.
type conversation struct {
	id            string // as the client calls it
	session       string // empty until known
	ready         bool   // it has caught up
	waiting       []func(*conversation)
	seq           uint64 // of the last event taken
	resubscribing bool   // the events that come are known: it is being followed anew
	agent         string // the session's
	thinking      bool   // the client wants to see reasoning

	turn      *serverTurn
	approvals []*openApproval
}

// A request is an approval that the client was asked for and not told the end of.
type openApproval struct {
	id, tool, name string
	allowed        bool // and its tool has not ended
}

// with does something with a conversation, once it is followed and has caught up.
func (s *serverCodec) withConversation(id string, do func(*conversation)) {
	c := s.conversations[id]
	switch {
	case c != nil && c.ready:
		do(c)
		return
	case c != nil && len(c.waiting) >= maxQueuedMessages:
		s.sendError(id, badRequest, "too many messages wait for that conversation")
		return
	case c != nil:
		c.waiting = append(c.waiting, do)
		return
	case len(s.conversations) >= maxConversations:
		s.sendError(id, badRequest, "too many conversations on this connection")
		return
	}
	c = &conversation{id: id, waiting: []func(*conversation){do}}
	s.conversations[id] = c
	s.subscribe(c, id, nil)
}

// follow subscribes to the session of a conversation.
func (s *serverCodec) subscribe(c *conversation, name string, at *protocol.Position) {
	s.sendCommand(protocol.DoSubscribe, name, protocol.SubscribeData{Position: at}, func(a protocol.Answer) {
		var r protocol.SubscribeResult
		if a.Error == nil && json.Unmarshal(a.Result, &r) != nil {
			a.Error = protocol.Errorf(protocol.CodeInternal, "the conversation could not be followed")
		}
		if a.Error != nil {
			s.dropConversation(c, foreignCode(a.Error.Code, streamError), a.Error.Message)
			return
		}
		s.handleSubscribed(c, &r)
	})
}

func (s *serverCodec) handleSubscribed(c *conversation, r *protocol.SubscribeResult) {
	if known := s.sessions[r.Session]; known != nil && known != c {
		// The client has two names for one session: what was followed begins anew, from where it was.
		s.conversations[c.id] = known
		known.resubscribing = true
		s.subscribe(known, r.Session, &protocol.Position{Epoch: r.Position.Epoch, Seq: known.seq})
		known.waiting = append(known.waiting, c.waiting...)
		if known.ready {
			s.handleCaughtUp(known)
		}
		return
	}
	c.session, c.resubscribing = r.Session, false
	s.sessions[r.Session] = c
	if r.Snapshot != nil && r.Snapshot.State != nil {
		s.loadState(c, r.Snapshot.State)
	}
}

func (s *serverCodec) handleCaughtUp(c *conversation) {
	c.ready = true
	waiting := c.waiting
	c.waiting = nil
	for _, do := range waiting {
		do(c)
	}
}

// lost tells the client that there is no such conversation, for each message that waits for it.
func (s *serverCodec) dropConversation(c *conversation, code, message string) {
	s.removeConversation(c)
	for range max(1, len(c.waiting)) {
		s.sendError(c.id, code, message)
	}
}

// begin makes a state what is known of a conversation.
func (s *serverCodec) loadState(c *conversation, st *protocol.State) {
	c.seq, c.agent, c.turn, c.approvals = st.Seq, st.Agent, nil, nil
	if st.Turn != nil {
		c.turn = newServerTurn(st.Turn.Turn, c.agent)
		for i := range st.Turn.Tools {
			open := &st.Turn.Tools[i]
			call := c.turn.tool(open.Tool)
			call.name, call.title, call.kind = open.Name, open.Title, open.Kind
		}
	}
	for i := range st.Approvals {
		s.encodeApproval(c, &st.Approvals[i])
	}
}

func (s *serverCodec) removeConversation(c *conversation) {
	for name, known := range s.conversations {
		if known == c {
			delete(s.conversations, name)
		}
	}
	if s.sessions[c.session] == c {
		delete(s.sessions, c.session)
	}
}
