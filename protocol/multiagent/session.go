package multiagent

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A thread is a conversation at our client's end.
type session struct {
	name             string
	log              *codec.Log
	turn             *clientTurn // under way
	requests         []*request
	cancelSeen       bool              // a stream was cancelled and nothing came since: the real system says it twice
	decisions        []decision        // the newest last
	updated          time.Time         // of the last event
	publishedSeq     uint64            // the seq of the last summary
	agent            string            // who speaks
	tools            map[string]string // that run, by request
	updatesRequested bool              // up on this connection: a server of our kind tells of it
	turnDeadline     time.Time         // when the turn is, if nothing more is said; zero: only its end ends it
}

// decided is a request that is over.
type decision struct {
	request string
	winner  protocol.Winner
}

// A wait is a message of ours that may be answered with an error.
type request struct {
	command  *protocol.Command // nil: nobody waits for its answer
	verb     protocol.Verb
	deadline time.Time

	message  protocol.Message  // of send
	request  string            // of approve
	decision protocol.Decision // of approve
	reason   string            // of approve
	turn     string            // of interrupt
	queue    string            // of interrupt
}

// named returns the thread of that id, name or unique prefix of an id; nil when there is none.
func (c *clientCodec) findSession(name string) *session {
	var found *session
	many := false
	for _, s := range c.resume.sessions {
		switch {
		case s.log.Session == name, s.name == name:
			return s
		case strings.HasPrefix(s.log.Session, name):
			found, many = s, found != nil
		}
	}
	if many {
		return nil
	}
	return found
}

// thread returns the thread that a command is about. Any id may be that of a conversation: only what is said to it tells.
func (c *clientCodec) sessionFor(cmd *protocol.Command) (*session, bool) {
	s := c.findSession(cmd.Session)
	if s == nil {
		s = c.addSession(cmd.Session, protocol.SessionCreatedData{Agent: Name})
	}
	if s == nil {
		c.fail(cmd, &protocol.Error{
			Code: protocol.CodeTooMany, Message: "too many sessions for one client of this dialect", Limit: maxSessions,
		})
		return nil, false
	}
	c.lastSession = s
	return s, true
}

// begin makes a thread; nil when there are too many.
func (c *clientCodec) addSession(id string, made protocol.SessionCreatedData) *session {
	if len(c.resume.sessions) >= maxSessions {
		return nil
	}
	s := &session{name: made.Name, log: codec.NewLog(id, c.responder.Epoch), agent: made.Agent, tools: map[string]string{}}
	s.log.Resets = protocol.ResetResubscribed
	c.resume.sessions = append(c.resume.sessions, s)
	c.record(s, protocol.SessionCreated, nil, made)
	return s
}

// heardOf returns the thread of a conversation that the server speaks of, or nil.
func (c *clientCodec) sessionByID(id string) *session {
	i := slices.IndexFunc(c.resume.sessions, func(s *session) bool { return s.log.Session == id })
	if i < 0 {
		return nil
	}
	c.lastSession = c.resume.sessions[i]
	return c.lastSession
}

// add records what happened in a thread, in its turn if there is one.
func (c *clientCodec) record(s *session, typ protocol.Type, by *protocol.Actor, data any) {
	s.updated = c.now
	e := codec.Entry{Type: typ, By: by, Data: data}
	if s.turn != nil {
		e.Turn = s.turn.id
	}
	switch typ {
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld,
		protocol.QueueReleased, protocol.SessionCreated, protocol.SessionUpdated:
		e.Turn = ""
	}
	s.log.Add(c.out, c.now, e)
}

func (s *session) summary() protocol.Summary {
	sum := s.log.Summary()
	if !s.updated.IsZero() {
		sum.Updated = s.updated
	}
	if s.log.State.Last != nil {
		sum.Reason = s.log.State.Last.Reason
	}
	return sum
}

// wait waits for an error, or for the time after which there is none.
func (c *clientCodec) addRequest(s *session, req *request) { s.requests = append(s.requests, req) }

// takeUp asks a server of our kind to tell of a conversation from now on; any other says PONG. False when it tells already.
func (c *clientCodec) requestUpdates(s *session) bool {
	if s.updatesRequested {
		return false
	}
	s.updatesRequested = true
	c.send(frame{Type: typePing, Conversation: s.log.Session})
	return true
}

// unwait takes a wait away; false when it is gone already.
func (s *session) removeRequest(req *request) bool {
	i := slices.Index(s.requests, req)
	if i < 0 {
		return false
	}
	s.requests = slices.Delete(s.requests, i, i+1)
	return true
}

// waiting returns the first wait of a verb, or nil. An empty verb is any.
func (s *session) findRequest(verb protocol.Verb) *request {
	for _, req := range s.requests {
		if verb == "" || req.verb == verb {
			return req
		}
	}
	return nil
}

// patient ends a wait that no error ended.
func (c *clientCodec) completeRequest(s *session, req *request) {
	switch req.verb {
	case protocol.DoSend:
		c.startTurn(s, req)
	case protocol.DoSnapshot: // who looks has seen what there is
		c.handleCommand(req.command)
	case protocol.DoApprove:
		c.applyDecision(s, req)
	case protocol.DoInterrupt:
		if s.turn == nil || req.turn != "" && s.turn.id != req.turn {
			c.answerOnce(req.command, protocol.InterruptResult{})
			return
		}
		c.fail(req.command, protocol.Errorf(protocol.CodeTimeout, "the server did not say that the stream ended"))
	}
}

// resume makes a thread of an earlier connection fit for this one. What was sent counts as sent; what was said since is unknown.
func (c *clientCodec) reconnect(s *session) {
	waits := s.requests
	s.requests, s.cancelSeen, s.updatesRequested = nil, false, false
	for _, req := range waits {
		if req.verb == protocol.DoSend {
			req.command = withoutID(req.command)
			c.startTurn(s, req)
		}
	}
	if s.turn != nil {
		c.endTurn(s, protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: "the connection was lost: what came since is not known",
		})
	}
	c.sendNext(s)
}

// forKey is a command whose answer is kept for its key, and given to nobody now.
func withoutID(cmd *protocol.Command) *protocol.Command {
	if cmd == nil {
		return nil
	}
	kept := *cmd
	kept.ID = ""
	return &kept
}
