package effectiveagent

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A session is an agent runtime that our client follows.
type session struct {
	*sessionState
	err    *protocol.Error // by the server
	active bool            // the server told something of it on this connection

	localTurn  bool      // the turn under way was made here: the server does not tell of turns
	lastFailed bool      // its last word was an error
	idleAt     time.Time // when such a turn is over, unless the agent says more; zero: not before it said something
	sentIDs    []string  // ids of the newest messages that were recorded when they were sent
	sentTexts  []string  // what they say, until the agent says something: a server that drops ids may tell it once more as an input

	resumeBy time.Time // until then the server may say how it goes on, or the next of what is past; zero: it is settled
	pastSeq  uint64    // the sequence at the server up to which all that comes is past; 0: what comes is now
	held     []protocol.Command
}

// A known session is remembered over connections.
type sessionState struct {
	id             string
	log            *codec.Log
	hasNotes       bool         // its server leaves notes
	form           activityForm // that its server has
	position       string       // the id of the newest activity with a note: a position at the server
	alias          struct{ theirs, ours string }
	resumeAttempts int // connections on which the server did not say that it goes on
}

// clientState is what is known of all sessions.
type clientState struct {
	sessions       map[string]*sessionState
	order          []string // least recently subscribed first
	unansweredKeys []string // keys of sends that have no answer, oldest first
}

func newClientState() *clientState { return &clientState{sessions: map[string]*sessionState{}} }

// maxSentIDs bounds session.mine and session.said.
const maxSentIDs = 16

// recordSent keeps a message of ours that was recorded when it was sent.
func (s *session) recordSent(id, text string) {
	s.sentIDs, s.sentTexts = append(s.sentIDs, id), append(s.sentTexts, text)
	s.sentIDs, s.sentTexts = s.sentIDs[max(0, len(s.sentIDs)-maxSentIDs):], s.sentTexts[max(0, len(s.sentTexts)-maxSentIDs):]
}

// isEcho reports whether an input is a message of ours: by its id, or where that was lost, by its words, once. What is relayed is
// another client's.
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

// touch returns what is known of a session. The one that was subscribed longest ago and is not followed makes room for a new one.
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

// handleSubscribe follows a session, or attaches again to one that is followed.
func (c *client) handleSubscribe(cmd *protocol.Command) {
	if s := c.openSession(cmd); s != nil {
		c.Subscribe(cmd, s.log)
	}
}

// openSession returns the session of a command, followed from now on if it was not; nil when that fails the command.
func (c *client) openSession(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	switch {
	case s != nil && s.err != nil:
		c.Fail(cmd, s.err)
		delete(c.sessions, s.id)
		return nil
	case s == nil && len(c.sessions) >= maxRuntimes:
		c.Failf(cmd, protocol.CodeTooMany, "too many sessions are followed on this connection")
		return nil
	case s == nil:
		s = c.follow(cmd.Session)
	}
	if c.holdCommand(s, cmd) {
		return nil
	}
	return s
}

// answerFromLog answers what a session is or was, as far as it was seen. Of one that is followed only now, the server may yet say that there
// is none.
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

// follow begins to follow a session. A server of our kind goes on from where we were, or tells what the session is; of any other, what was
// seen before is history, and what the session is now nobody tells.
func (c *client) follow(id string) *session {
	s := &session{sessionState: c.state.touch(id, formFromOptions(c.Options.Options), c.sessions)}
	c.sessions[id] = s
	subscribe := subscribeMessage{Type: typeSubscribe, AgentRuntimeID: id}
	switch {
	case s.log == nil:
		s.log = codec.NewLog(id, c.NextEpoch())
		s.log.ResetReason = protocol.ResetResubscribed
		s.log.StartFrom(&protocol.State{Session: id, Agent: Name, Created: c.Now.UTC().Truncate(time.Millisecond)})
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

// renewLog begins a session anew: what happened meanwhile is not known.
func (c *client) renewLog(s *session) {
	if s.log.State.Turn != nil {
		c.endLostTurn(s)
	}
	s.log.Renew(c.NextEpoch())
}

// holdCommand keeps a command until it is settled how its session goes on; false: it is.
func (c *client) holdCommand(s *session, cmd *protocol.Command) bool {
	if s == nil || s.resumeBy.IsZero() {
		return false
	}
	c.Hold(&s.held, maxWaiting, cmd)
	return true
}

// resumeTimedOut gives up a connection on which the server does not say that it goes on; who waits asks again on the next. Of one that did
// and then fell silent, what was told counts.
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

// resume goes on with a session as the server says: with what came after the activity that we had last, with what the session is, or
// anew.
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

// handlePast lets what waits go on, once all that is past has come.
func (c *client) handlePast(s *session, a *receivedActivity) {
	s.resumeBy = c.Now.Add(resumeTimeout)
	if at, err := protocol.ParsePosition(a.ID); err == nil && at.Seq >= s.pastSeq {
		c.releaseCommands(s)
	}
}

// releaseCommands carries out the commands that were held: how the session goes on is settled.
func (c *client) releaseCommands(s *session) {
	held := s.held
	s.held, s.resumeBy, s.pastSeq = nil, time.Time{}, 0
	for i := range held {
		c.handleCommand(&held[i])
	}
}

// adoptState takes what a session is from a server of our kind: a session that was not seen before, or whose log is another now. False when
// it does not say.
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
	state.Seq = 0 // our log begins here: what is finished is not told
	s.log.StartFrom(state)
	s.position, s.hasNotes, s.alias.theirs, s.alias.ours = n.After, true, "", ""
	if n.PastSeq > at.Seq {
		s.pastSeq = n.PastSeq
	}
	return true
}

func (c *client) handleUnsubscribe(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil {
		c.Failf(cmd, protocol.CodeNotSubscribed, "%s is not followed on this connection", cmd.Session)
		return
	}
	c.failPending(s)
	delete(c.sessions, s.id)
	c.send(subscribeMessage{Type: typeUnsubscribe, AgentRuntimeID: s.id})
	c.Unsubscribe(cmd, s.log)
}

// orderedSessions lists the sessions, always in the same order.
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
