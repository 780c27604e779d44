package effectiveagent

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A session is a subscribed agent runtime.
type session struct {
	*sessionState
	err    *protocol.Error // the server refused the subscription
	active bool            // an activity came on this connection

	localTurn bool      // the client started the turn under way: the server does not report turns
	lastError string    // of the last activity, if it was an error
	idleAt    time.Time // when the local turn is over, without further activities; zero: after the agent's first
	sentIDs   []string  // ids of the newest messages recorded when sent
	sentTexts []string  // their texts, until the agent is active: a server that drops ids may echo them

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
	alias          struct{ remote, local string }
	resumeAttempts int // connections without an answer to the resume
}

// A clientState is kept over connections: all sessions.
type clientState struct {
	sessions       map[string]*sessionState
	order          []string // least recently subscribed first
	unansweredKeys []string // keys of sends without an answer, oldest first
}

func newClientState() *clientState { return &clientState{sessions: map[string]*sessionState{}} }

// maxSentIDs bounds sentIDs and sentTexts.
const maxSentIDs = 16

// recordSent remembers a message that was recorded when it was sent.
func (s *session) recordSent(id, text string) {
	s.sentIDs, s.sentTexts = append(s.sentIDs, id), append(s.sentTexts, text)
	s.sentIDs, s.sentTexts = s.sentIDs[max(0, len(s.sentIDs)-maxSentIDs):], s.sentTexts[max(
		0, len(s.sentTexts)-maxSentIDs,
	):]
}

// isEcho reports whether an input echoes a message of this client: by its id or, once, by its text.
// Relayed inputs are another client's.
func (s *session) isEcho(a *receivedActivity, text string) bool {
	if a.relayed {
		return false
	}
	at := slices.Index(s.sentTexts, text)
	if at >= 0 {
		s.sentTexts = slices.Delete(s.sentTexts, at, at+1)
	}
	return at >= 0 || a.ID != "" && slices.Contains(s.sentIDs, a.ID)
}

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

// handleSubscribe subscribes to a session, or attaches again.
func (c *client) handleSubscribe(cmd *protocol.Command) {
	if s := c.openSession(cmd); s != nil {
		c.Subscribe(cmd, s.log)
	}
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
		c.answerNow(s, cmd)
	default:
		c.addPending(&pendingCommand{command: *cmd, readsLog: true})
	}
}

func (c *client) answerNow(s *session, cmd *protocol.Command) {
	if cmd.Command == protocol.DoSnapshot {
		c.AnswerSnapshot(cmd, s.log)
		return
	}
	c.AnswerHistory(cmd, s.log)
}

// follow subscribes to a session. agentctl's server resumes at the client's position or sends the
// session's state. At any other server, earlier events become history, and the current state is
// unknown.
func (c *client) follow(id string) *session {
	s := &session{sessionState: c.state.touch(id, formFromOptions(c.Options.Options), c.sessions)}
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
		c.renewLog(s)
	}
	if c.Options.PeerIsAgentctl || s.hasNotes && s.position != "" {
		s.resumeBy = c.Now.Add(resumeTimeout)
		subscribe.Metadata = &metadata{Note: &note{After: s.position, WantState: c.Options.PeerIsAgentctl}}
	}
	c.send(subscribe)
	return s
}

// renewLog starts a new log: missed events are unknown.
func (c *client) renewLog(s *session) {
	if s.log.State.Turn != nil {
		c.endLostTurn(s)
	}
	s.log.Renew(c.NextEpoch())
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
	if s.pastSeq > 0 {
		c.releaseCommands(s)
		return
	}
	if s.resumeAttempts++; s.resumeAttempts < maxResumeAttempts {
		s.resumeBy = time.Time{}
		c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a subscribe"}
		return
	}
	c.resume(s, &note{})
}

// resume continues a session as the server answered: after the client's position, with the
// session's state, or with a new log.
func (c *client) resume(s *session, n *note) {
	s.resumeAttempts = 0
	switch {
	case n.After != "" && n.After == s.position:
		s.log.ResumeReason = protocol.ResumeReplayed
	case !c.adoptState(s, n):
		c.renewLog(s)
	}
	if s.pastSeq == 0 {
		c.releaseCommands(s)
	} else {
		s.resumeBy = c.Now.Add(resumeTimeout)
	}
}

// handlePast releases held commands once all past activities arrived.
func (c *client) handlePast(s *session, a *receivedActivity) {
	s.resumeBy = c.Now.Add(resumeTimeout)
	if at, err := protocol.ParsePosition(a.ID); err == nil && at.Seq >= s.pastSeq {
		c.releaseCommands(s)
	}
}

// releaseCommands carries out the held commands.
func (c *client) releaseCommands(s *session) {
	held := s.held
	s.held, s.resumeBy, s.pastSeq = nil, time.Time{}, 0
	for i := range held {
		c.handleCommand(&held[i])
	}
}

// adoptState takes a session's state from agentctl's server, for a new session or one with another
// log. It returns false if the note has none.
func (c *client) adoptState(s *session, n *note) bool {
	at, err := protocol.ParsePosition(n.After)
	state := new(protocol.State)
	if err != nil || len(n.State) == 0 || json.Unmarshal(n.State, state) != nil {
		return false
	}
	if s.log.State.Turn != nil {
		c.endLostTurn(s)
	}
	if was, err := protocol.ParsePosition(s.position); err != nil || was.Epoch != at.Epoch {
		s.log.DropHistory()
	}
	s.log.Renew(c.NextEpoch())
	s.log.ResetReason = protocol.ResetFresh
	state.Seq = 0 // the log begins here: finished turns are not sent
	s.log.StartFrom(state)
	s.position, s.hasNotes, s.alias.remote, s.alias.local = n.After, true, "", ""
	if n.PastSeq > at.Seq {
		s.pastSeq = n.PastSeq
	}
	return true
}

func (c *client) handleUnsubscribe(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil {
		c.Failf(cmd, protocol.CodeNotSubscribed, "this connection is not subscribed to session %s", cmd.Session)
		return
	}
	c.failPending(s)
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

// add records an event of a session.
func (c *client) add(s *session, en codec.Entry) { c.Record(s.log, en) }

// raw records a message without a native equivalent.
func (c *client) raw(s *session, method string, data []byte) {
	c.RecordRaw(s.log, s.log.Turn(), method, data)
}
