package server

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// Bounds of a conversation at the server end.
const (
	maxQueuedMessages = 64 // messages before it is ready

	maxOutput = 64 << 10
)

// A conversation is a session that the foreign client uses.
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
	turn      *turn
	approvals []*openApproval
}

// An openApproval is an approval request whose end the client does not know.
type openApproval struct {
	id, tool, name string
	args           json.RawMessage
	asked          time.Time
	allowed        bool   // its tool has not ended
	rejection      string // message of the error for the client that rejected it, sent after its end
}

// withConversation calls do with a conversation once it is subscribed and caught up.
func (s *Conn) withConversation(id string, do func(*conversation)) {
	c := s.conversations[id]
	switch {
	case c != nil && c.ready:
		do(c)
		return
	case c != nil && len(c.waiting) >= maxQueuedMessages:
		s.sendError(id, wire.CodeBadRequest, "too many messages wait for that conversation")
		return
	case c != nil:
		c.waiting = append(c.waiting, do)
		return
	case len(s.conversations) >= maxConversations:
		s.sendError(id, wire.CodeBadRequest, "too many conversations on this connection")
		return
	}
	c = &conversation{id: id, waiting: []func(*conversation){do}, keys: map[string]string{}}
	s.conversations[id] = c
	s.subscribe(c, id, nil)
}

// subscribe subscribes to the session of a conversation.
func (s *Conn) subscribe(c *conversation, name string, at *protocol.Position) {
	s.sendCommand(protocol.DoSubscribe, name, protocol.SubscribeData{Position: at}, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			s.dropConversation(c, foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		s.handleSubscribed(c, &r)
	})
}

func (s *Conn) handleSubscribed(c *conversation, r *protocol.SubscribeResult) {
	if known := s.sessions[r.Session]; known != nil && known != c {
		// The client has two names for one session: restart its subscription at the current
		// position.
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

func (s *Conn) handleCaughtUp(c *conversation) {
	c.ready = true
	waiting := c.waiting
	c.waiting = nil
	for _, do := range waiting {
		do(c)
	}
}

// dropConversation removes a conversation that does not exist. It sends one error for each waiting
// message.
func (s *Conn) dropConversation(c *conversation, code, message string) {
	s.removeConversation(c)
	for range max(1, len(c.waiting)) {
		s.sendError(c.id, code, message)
	}
}

// loadState initializes a conversation from a snapshot.
func (s *Conn) loadState(c *conversation, st *protocol.State) {
	c.seq, c.agent, c.turn, c.approvals = st.Seq, st.Agent, nil, nil
	if st.Turn != nil {
		c.turn = newServerTurn(st.Turn.Turn, c.agent)
		c.turn.message, c.turn.toolRequest = st.Turn.Message.MessageID, wire.IsToolRequest(st.Turn.Message.Text)
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

func (s *Conn) removeConversation(c *conversation) {
	for name, known := range s.conversations {
		if known == c {
			delete(s.conversations, name)
		}
	}
	if s.sessions[c.session] == c {
		delete(s.sessions, c.session)
	}
}
