package effectiveagent

import (
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A session is a subscribed agent runtime. It records the activities of its server.
type session struct {
	*sessionState
	x      *exchange
	err    *protocol.Error // the server refused the subscription
	active bool            // an activity came on this connection
	turns  turns
	echoes echoes

	resumeBy time.Time // when the resume times out; zero: resumed
	pastSeq  uint64    // the server's sequence of the last past activity; 0: activities are live
	held     []protocol.Command
}

// A sessionState is kept over connections.
type sessionState struct {
	id             string
	log            *codec.Log
	hasNotes       bool         // its server sends notes
	form           activityForm // of its server's activities
	position       string       // the id of the newest activity with a note, a position at the server
	alias          turnAlias
	resumeAttempts int // connections without an answer to the resume
}

// A clientState is kept over connections: all sessions.
type clientState struct {
	sessions       map[string]*sessionState
	order          []string // least recently subscribed first
	unansweredKeys []string // keys of sends without an answer, oldest first
}

func newClientState() *clientState { return &clientState{sessions: map[string]*sessionState{}} }

// touch returns the state of a session, creating it if needed. Over the bound, it drops the session
// that was subscribed longest ago and is not subscribed now.
func (m *clientState) touch(id string, f activityForm, followed map[string]*session) *sessionState {
	k := m.sessions[id]
	if k == nil {
		k = &sessionState{id: id, form: f}
		m.sessions[id] = k
	}
	m.order = append(slices.DeleteFunc(m.order, func(o string) bool { return o == id }), id)
	for i := 0; len(m.order) > maxRuntimes && i < len(m.order)-1; {
		if followed[m.order[i]] != nil {
			i++
			continue
		}
		delete(m.sessions, m.order[i])
		m.order = slices.Delete(m.order, i, i+1)
	}
	return k
}

// openSession returns the session of a command, subscribing to it if needed. It returns nil if the
// command was answered or held.
func (c *client) openSession(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	switch {
	case s != nil && s.err != nil:
		c.Fail(cmd, s.err)
		delete(c.sessions, s.id)
		return nil
	case s == nil && len(c.sessions) >= maxRuntimes:
		c.Failf(cmd, protocol.CodeTooMany, "too many subscriptions on this connection")
		return nil
	case s == nil:
		s = c.follow(cmd.Session)
	}
	if c.holdCommand(s, cmd) {
		return nil
	}
	return s
}

// answerFromLog answers a snapshot or history command from the log. For a new subscription it waits
// for an error of the server first.
func (c *client) answerFromLog(cmd *protocol.Command) {
	s := c.openSession(cmd)
	switch {
	case s == nil:
	case s.active || s.log.Following():
		s.answerFromLog(cmd)
	default:
		c.addPending(&pendingCommand{command: *cmd, readsLog: true}, errorTimeout)
	}
}

// answerFromLog answers a snapshot or history command.
func (s *session) answerFromLog(cmd *protocol.Command) {
	if cmd.Command == protocol.DoSnapshot {
		s.x.AnswerSnapshot(cmd, s.log)
		return
	}
	s.x.AnswerHistory(cmd, s.log)
}

// follow subscribes to a session. agentctl's server resumes at the client's position or sends the
// session's state. At any other server, earlier events become history, and the current state is
// unknown.
func (c *client) follow(id string) *session {
	state := c.state.touch(id, formFromOptions(c.Options.Options), c.sessions)
	s := &session{
		sessionState: state, x: c.exchange, turns: turns{x: c.exchange, state: state, idleTimeout: c.idleTimeout},
	}
	c.sessions[id] = s
	subscribe := subscribeMessage{Type: typeSubscribe, AgentRuntimeID: id}
	switch {
	case s.log == nil:
		s.log = codec.NewLog(id, c.NextEpoch())
		s.log.ResetReason = protocol.ResetResubscribed
		s.log.StartFrom(&protocol.State{
			Session: id, Agent: Name, Attributes: protocol.Attributes{Created: c.Now.UTC().Truncate(time.Millisecond)},
		})
	case c.Options.PeerIsAgentctl, s.hasNotes && s.position != "":
		s.log.Detach()
	default:
		s.log.Detach()
		s.renewLog()
	}
	if c.Options.PeerIsAgentctl || s.hasNotes && s.position != "" {
		s.resumeBy = c.Now.Add(resumeTimeout)
		subscribe.Metadata = &metadata{Note: &note{After: s.position, WantState: c.Options.PeerIsAgentctl}}
	}
	c.send(subscribe)
	return s
}

// holdCommand holds a command until the session's resume is complete. It returns false if it is.
func (c *client) holdCommand(s *session, cmd *protocol.Command) bool {
	if s == nil || s.resumeBy.IsZero() {
		return false
	}
	c.Hold(&s.held, maxWaiting, cmd)
	return true
}

// resumeTimedOut closes the connection if the server did not answer the resume; pending commands
// are sent again on the next one. If the server began to answer, the activities received count.
func (c *client) resumeTimedOut(s *session) {
	if s.pastSeq == 0 {
		if s.resumeAttempts++; s.resumeAttempts < maxResumeAttempts {
			s.resumeBy = time.Time{}
			c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a subscribe"}
			return
		}
		s.resume(&note{})
	}
	c.release(s)
}

// release ends the resume of a session and carries out the commands that waited for it.
func (c *client) release(s *session) {
	held := s.held
	s.held, s.resumeBy, s.pastSeq = nil, time.Time{}, 0
	for i := range held {
		c.handleCommand(&held[i])
	}
}

func (c *client) handleUnsubscribe(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil {
		c.Failf(cmd, protocol.CodeNotSubscribed, "this connection is not subscribed to session %s", cmd.Session)
		return
	}
	c.failPending(s.id, s.err)
	delete(c.sessions, s.id)
	c.send(subscribeMessage{Type: typeUnsubscribe, AgentRuntimeID: s.id})
	c.Unsubscribe(cmd, s.log)
}

// orderedSessions returns the sessions in a fixed order.
func (c *client) orderedSessions() []*session {
	list := make([]*session, 0, len(c.sessions))
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		list = append(list, c.sessions[id])
	}
	return list
}
