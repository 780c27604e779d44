package multiagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// Bounds of a conversation at our server's end.
const (
	maxWaiting = 64      // messages until it is known
	maxOpen    = 1024    // tools and requests of a turn
	maxContent = 4 << 20 // bytes of a message that message_complete repeats
	maxOutput  = 64 << 10
)

// A conversation is a session that a foreign client used.
type conversation struct {
	id       string // as the client calls it
	session  string // empty until known
	ready    bool   // it has caught up
	waiting  []func(*conversation)
	seq      uint64 // of the last event taken
	skip     bool   // the events that come are known: it is being followed anew
	agent    string // the session's
	thinking bool   // the client wants to see reasoning

	turn *turn
	asks []*request
}

// A request is an approval that the client was asked for and not told the end of.
type request struct {
	id, tool, name string
	allowed        bool // and its tool has not ended
}

// with does something with a conversation, once it is followed and has caught up.
func (s *Server) with(id string, do func(*conversation)) {
	c := s.conversations[id]
	switch {
	case c != nil && c.ready:
		do(c)
		return
	case c != nil && len(c.waiting) >= maxWaiting:
		s.fail(id, badRequest, "too many messages wait for that conversation")
		return
	case c != nil:
		c.waiting = append(c.waiting, do)
		return
	case len(s.conversations) >= maxConversations:
		s.fail(id, badRequest, "too many conversations on this connection")
		return
	}
	c = &conversation{id: id, waiting: []func(*conversation){do}}
	s.conversations[id] = c
	s.follow(c, id, nil)
}

// follow subscribes to the session of a conversation.
func (s *Server) follow(c *conversation, name string, at *protocol.Position) {
	s.ask(protocol.DoSubscribe, name, protocol.SubscribeData{Position: at}, func(a protocol.Answer) {
		var r protocol.SubscribeResult
		if a.Error == nil && json.Unmarshal(a.Result, &r) != nil {
			a.Error = protocol.Errorf(protocol.CodeInternal, "the conversation could not be followed")
		}
		if a.Error != nil {
			s.lost(c, foreign(a.Error.Code, streamError), a.Error.Message)
			return
		}
		s.followed(c, &r)
	})
}

func (s *Server) followed(c *conversation, r *protocol.SubscribeResult) {
	if known := s.sessions[r.Session]; known != nil && known != c {
		// The client has two names for one session: what was followed begins anew, from where it was.
		s.conversations[c.id] = known
		known.skip = true
		s.follow(known, r.Session, &protocol.Position{Epoch: r.Position.Epoch, Seq: known.seq})
		known.waiting = append(known.waiting, c.waiting...)
		if known.ready {
			s.caughtUp(known)
		}
		return
	}
	c.session, c.skip = r.Session, false
	s.sessions[r.Session] = c
	if r.Snapshot != nil && r.Snapshot.State != nil {
		s.begin(c, r.Snapshot.State)
	}
}

func (s *Server) caughtUp(c *conversation) {
	c.ready = true
	waiting := c.waiting
	c.waiting = nil
	for _, do := range waiting {
		do(c)
	}
}

// lost tells the client that there is no such conversation, for each message that waits for it.
func (s *Server) lost(c *conversation, code, message string) {
	s.forget(c)
	for range max(1, len(c.waiting)) {
		s.fail(c.id, code, message)
	}
}

// begin makes a state what is known of a conversation.
func (s *Server) begin(c *conversation, st *protocol.State) {
	c.seq, c.agent, c.turn, c.asks = st.Seq, st.Agent, nil, nil
	if st.Turn != nil {
		c.turn = newTurn(st.Turn.Turn, c.agent)
		for i := range st.Turn.Tools {
			open := &st.Turn.Tools[i]
			k := c.turn.tool(open.Tool)
			k.name, k.title, k.kind = open.Name, open.Title, open.Kind
		}
	}
	for i := range st.Approvals {
		s.asked(c, &st.Approvals[i])
	}
}

func (s *Server) forget(c *conversation) {
	for name, known := range s.conversations {
		if known == c {
			delete(s.conversations, name)
		}
	}
	if s.sessions[c.session] == c {
		delete(s.sessions, c.session)
	}
}
