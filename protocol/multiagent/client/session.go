package client

import (
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A session is a conversation at the client end.
type session struct {
	name     string
	log      *codec.Log
	turn     *turn       // current; nil: none
	ended    []endedTurn // newest last, at most maxEnded
	requests []*request
	accepted []*request // messages that agentctl's server has, and whose turn has not begun
	// a cancelled error came and no message since: the real system sends it twice
	cancelSeen       bool
	decisions        codec.Decisions
	lastDecided      string            // newest request in decisions
	updated          time.Time         // time of the last event
	publishedSeq     uint64            // seq of the last summary
	agent            string            // current speaker
	tools            map[string]string // names of open tools, by id
	updatesRequested bool              // requested from agentctl's server on this connection
	turnDeadline     time.Time         // end of the turn if no message comes; zero: none
}

// A request is a message to the server that an error may answer.
type request struct {
	command  *protocol.Command // nil: internal
	verb     protocol.Verb
	deadline time.Time

	message  protocol.Message       // of send
	sent     transmission           // of send
	arrived  bool                   // of send: the server has it
	over     bool                   // of send: its turn has ended
	started  *turnStart             // of send: its turn began; nil: not yet
	created  *protocol.CreateResult // of send: the command created the session
	key      string                 // of the note; empty: none
	request  string                 // of approve
	decision protocol.Decision      // of approve
	reason   string                 // of approve
	turn     string                 // of interrupt
	queue    string                 // of interrupt
}

// An endedTurn is a finished turn whose output the client saw.
type endedTurn struct {
	output string // its message id at the server
	start  turnStart
}

// maxEnded bounds session.ended: a message sent again over a lost connection is one of the newest.
const maxEnded = 16

// keepEnded keeps the turn, which ends, if its output is known.
func (s *session) keepEnded() {
	recorded := s.log.State.Turn
	if recorded == nil || s.turn.message == "" {
		return
	}
	if len(s.ended) == maxEnded {
		s.ended = slices.Delete(s.ended, 0, 1)
	}
	s.ended = append(s.ended, endedTurn{s.turn.message, turnStart{s.turn.id, recorded.First}})
}

// findEnded returns the start of the finished turn with an output, or nil.
func (s *session) findEnded(output string) *turnStart {
	for _, t := range slices.Backward(s.ended) {
		if output != "" && t.output == output {
			return &t.start
		}
	}
	return nil
}

// A transmission is the newest sending of a user message.
type transmission struct {
	at    time.Time
	turns int // number of ended turns at that time
}

// findSession returns the session with an id, a name or a unique prefix of an id, or nil.
func (c *Conn) findSession(name string) *session {
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

// sessionFor returns the session of a command. It accepts any id: only the server's answer to a
// message reveals whether the conversation exists.
func (c *Conn) sessionFor(cmd *protocol.Command) (*session, bool) {
	s := c.findSession(cmd.Session)
	if s == nil {
		s = c.addSession(cmd.Session, protocol.SessionCreatedData{Agent: wire.Name})
	}
	if s == nil {
		c.Fail(cmd, tooManySessions())
		return nil, false
	}
	c.lastSession = s
	return s, true
}

func tooManySessions() *protocol.Error {
	return &protocol.Error{
		Code: protocol.CodeTooMany, Message: "too many sessions for one client of this dialect", Limit: maxSessions,
	}
}

// addSession adds a session; nil if there are too many.
func (c *Conn) addSession(id string, d protocol.SessionCreatedData) *session {
	if len(c.resume.sessions) >= maxSessions {
		return nil
	}
	s := &session{name: d.Name, log: codec.NewLog(id, c.Epoch()), agent: d.Agent, tools: map[string]string{}}
	s.log.ResetReason = protocol.ResetResubscribed
	c.resume.sessions = append(c.resume.sessions, s)
	c.record(s, protocol.SessionCreated, nil, d)
	return s
}

// sessionByID returns the session of a conversation, or nil.
func (c *Conn) sessionByID(id string) *session {
	i := slices.IndexFunc(c.resume.sessions, func(s *session) bool { return s.log.Session == id })
	if i < 0 {
		return nil
	}
	c.lastSession = c.resume.sessions[i]
	return c.lastSession
}

// record records an event of a session, within its turn if it has one.
func (c *Conn) record(s *session, typ protocol.Type, by *protocol.Actor, data any) {
	s.updated = c.Now
	e := codec.Entry{Type: typ, By: by, Data: data}
	if s.turn != nil {
		e.Turn = s.turn.id
	}
	switch typ {
	case protocol.QueueAdded, protocol.QueueUpdated, protocol.QueueRemoved, protocol.QueueMoved, protocol.QueueHeld,
		protocol.QueueReleased, protocol.SessionCreated, protocol.SessionUpdated:
		e.Turn = ""
	}
	c.Record(s.log, e)
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

// addRequest adds a request that an error or its deadline ends.
func (c *Conn) addRequest(s *session, req *request) { s.requests = append(s.requests, req) }

// requestUpdates sends the PING that makes agentctl's server send a conversation's events. Other
// servers only answer PONG. It returns false if updates were requested already.
func (c *Conn) requestUpdates(s *session) bool {
	if s.updatesRequested {
		return false
	}
	s.updatesRequested = true
	c.ping(ping{}, s.log.Session)
	return true
}

// removeRequest removes a request. It returns false if it is not pending.
func (s *session) removeRequest(req *request) bool {
	i := slices.Index(s.requests, req)
	if i < 0 {
		return false
	}
	s.requests = slices.Delete(s.requests, i, i+1)
	return true
}

// findRequest returns the first request for a verb, or nil. An empty verb matches any.
func (s *session) findRequest(verb protocol.Verb) *request {
	for _, req := range s.requests {
		if verb == "" || req.verb == verb {
			return req
		}
	}
	return nil
}

// completeRequest completes a request that no error answered in time.
func (c *Conn) completeRequest(s *session, req *request) {
	switch req.verb {
	case protocol.DoSend:
		switch {
		case req.arrived:
			c.acceptSend(s, req)
			return
		case req.key != "" && req.command == nil: // from the queue: the server answers, or gets it again
			req.deadline = c.Now.Add(sendTimeout)
			c.addRequest(s, req)
			return
		case req.deadline.Before(req.sent.at.Add(sendTimeout)): // no error: it is shown, and waits for evidence
			if req.started == nil {
				c.startTurn(s, req)
			}
			req.deadline = req.sent.at.Add(sendTimeout)
			c.addRequest(s, req)
			return
		}
		c.failUnconfirmed(s, req)
		c.sendNext(s)
	case protocol.DoSnapshot: // the current state has arrived
		c.handleCommand(req.command)
	case protocol.DoApprove:
		c.completeDecision(s, req)
	case protocol.DoInterrupt:
		if s.turn == nil || req.turn != "" && s.turn.id != req.turn {
			c.answerOnce(req.command, protocol.InterruptResult{})
			return
		}
		c.fail(req.command, protocol.Errorf(protocol.CodeTimeout, "the server did not confirm the end of the stream"))
	}
}

// reconnect prepares a session of the previous connection for this one. The rest of a turn is
// unknown. A message that the server may not have is sent again to agentctl's server, which knows
// its key; at any other server its sender gets an error.
func (c *Conn) reconnect(s *session) {
	pending := slices.Clone(s.requests)
	for _, req := range s.accepted {
		if req.command != nil {
			pending = append(pending, req)
		}
	}
	s.requests, s.accepted, s.cancelSeen, s.updatesRequested = nil, nil, false, false
	var again []*request
	for _, req := range pending {
		if req.verb != protocol.DoSend {
			continue
		}
		req.command = withoutID(req.command)
		switch {
		case req.arrived:
			c.acceptSend(s, req)
		case req.key != "":
			again = append(again, req)
		default:
			c.failUnconfirmed(s, req)
		}
	}
	if s.turn != nil {
		c.endLostTurn(s)
	}
	for _, req := range again {
		c.transmit(s, req)
	}
	c.sendNext(s)
}

// endLostTurn ends the turn that the last connection lost.
func (c *Conn) endLostTurn(s *session) {
	c.endTurn(s, protocol.TurnEndedData{
		Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed,
		Message: "connection lost: the rest of the turn is unknown",
	})
}

// withoutID returns a command whose answer is only saved for its key.
func withoutID(cmd *protocol.Command) *protocol.Command {
	if cmd == nil {
		return nil
	}
	kept := *cmd
	kept.ID = ""
	return &kept
}
