package effectiveagent

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A session is an agent runtime that our client follows.
type session struct {
	*known
	refused *protocol.Error // by the server
	heard   bool            // the server told something of it on this connection

	local bool      // the turn under way was made here: the server does not tell of turns
	erred bool      // its last word was an error
	quiet time.Time // when such a turn is over, unless the agent says more; zero: not before it said something
	mine  []string  // ids of the newest messages that were recorded when they were sent
	said  []string  // what they say, until the agent says something: a server that drops ids may tell it once more as an input

	resumes time.Time // until then the server may say how it goes on, or the next of what is past; zero: it is settled
	until   uint64    // the sequence at the server up to which all that comes is past; 0: what comes is now
	held    []protocol.Command
}

// A known session is remembered over connections.
type known struct {
	id    string
	log   *codec.Log
	noted bool   // its server leaves notes
	form  form   // that its server has
	at    string // the id of the newest activity with a note: a position at the server
	alias struct{ theirs, ours string }
	tries int // connections on which the server did not say that it goes on
}

// memory is what is known of all sessions.
type memory struct {
	sessions map[string]*known
	order    []string // least recently subscribed first
	unheard  []string // keys of sends that have no answer, oldest first
}

// maxMine bounds session.mine and session.said.
const maxMine = 16

// remember keeps a message of ours that was recorded when it was sent.
func (s *session) remember(id, text string) {
	s.mine, s.said = append(s.mine, id), append(s.said, text)
	s.mine, s.said = s.mine[max(0, len(s.mine)-maxMine):], s.said[max(0, len(s.said)-maxMine):]
}

// echoed reports whether an input is a message of ours: by its id, or where that was lost, by its words, once. What is relayed is
// another client's.
func (s *session) echoed(a *seen, text string) bool {
	if a.relayed {
		return false
	}
	at := slices.Index(s.said, text)
	if at >= 0 {
		s.said = slices.Delete(s.said, at, at+1)
	}
	return at >= 0 || a.ID != "" && slices.Contains(s.mine, a.ID)
}

// take returns what is known of a session. The one that was subscribed longest ago and is not followed makes room for a new one.
func (m *memory) take(id string, f form, followed map[string]*session) *known {
	k := m.sessions[id]
	if k == nil {
		k = &known{id: id, form: f}
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

// subscribe follows a session, or attaches again to one that is followed.
func (c *Client) subscribe(cmd *protocol.Command) {
	if s := c.opened(cmd); s != nil {
		s.log.Attach(c.out, &c.desk, cmd, c.now)
	}
}

// opened returns the session of a command, followed from now on if it was not; nil when that fails the command.
func (c *Client) opened(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	switch {
	case s != nil && s.refused != nil:
		c.desk.Fail(c.out, cmd, s.refused)
		delete(c.sessions, s.id)
		return nil
	case s == nil && len(c.sessions) >= maxRuntimes:
		c.fail(cmd, protocol.CodeTooMany, "too many sessions are followed on this connection")
		return nil
	case s == nil:
		s = c.open(cmd.Session)
	}
	if c.hold(s, cmd) {
		return nil
	}
	return s
}

// look answers what a session is or was, as far as it was seen. Of one that is followed only now, the server may yet say that there
// is none.
func (c *Client) look(cmd *protocol.Command) {
	s := c.opened(cmd)
	switch {
	case s == nil:
	case s.heard || s.log.Following():
		c.seen(s, cmd)
	default:
		c.expect(&wait{cmd: *cmd, looks: true})
	}
}

func (c *Client) seen(s *session, cmd *protocol.Command) {
	if cmd.Command == protocol.DoSnapshot {
		c.desk.Answer(c.out, cmd, s.log.Snapshot())
		return
	}
	var d protocol.HistoryData
	if c.data(cmd, &d) {
		c.desk.Answer(c.out, cmd, s.log.History(d))
	}
}

// open begins to follow a session. A server of our kind goes on from where we were, or tells what the session is; of any other, what was
// seen before is history, and what the session is now nobody tells.
func (c *Client) open(id string) *session {
	s := &session{known: c.memory.take(id, formOf(c.call.Options), c.sessions)}
	c.sessions[id] = s
	subscribe := followMessage{Type: typeSubscribe, AgentRuntimeID: id}
	switch {
	case s.log == nil:
		s.log = codec.NewLog(id, c.epoch())
		s.log.ResetReason = protocol.ResetResubscribed
		s.log.StartFrom(&protocol.State{Session: id, Agent: Name, Created: c.now.UTC().Truncate(time.Millisecond)})
	case c.call.PeerIsAgentctl, s.noted && s.at != "":
		s.log.Detach()
	default:
		s.log.Detach()
		c.renew(s)
	}
	if c.call.PeerIsAgentctl || s.noted && s.at != "" {
		s.resumes = c.now.Add(resumeWait)
		subscribe.Metadata = &metadata{Note: &note{After: s.at, Whole: c.call.PeerIsAgentctl}}
	}
	c.say(subscribe)
	return s
}

// epoch makes one for another log.
func (c *Client) epoch() string {
	c.logs++
	return c.desk.Epoch + "x" + strconv.Itoa(c.logs)
}

// renew begins a session anew: what happened meanwhile is not known.
func (c *Client) renew(s *session) {
	if s.log.State.Turn != nil {
		c.lose(s)
	}
	s.log.Renew(c.epoch())
}

// hold keeps a command until it is settled how its session goes on; false: it is.
func (c *Client) hold(s *session, cmd *protocol.Command) bool {
	switch {
	case s == nil || s.resumes.IsZero():
		return false
	case len(s.held) >= maxWaiting:
		c.fail(cmd, protocol.CodeTooMany, "too many commands wait for the session")
	default:
		s.held = append(s.held, *cmd)
	}
	return true
}

// unanswered gives up a connection on which the server does not say that it goes on; who waits asks again on the next. Of one that did
// and then fell silent, what was told counts.
func (c *Client) unanswered(s *session) {
	if s.until > 0 {
		c.release(s)
		return
	}
	if s.tries++; s.tries < resumeTries {
		s.resumes = time.Time{}
		c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a subscribe"}
		return
	}
	c.settle(s, &note{})
}

// settle goes on with a session as the server says: with what came after the activity that we had last, with what the session is, or
// anew.
func (c *Client) settle(s *session, n *note) {
	s.tries = 0
	switch {
	case n.After != "" && n.After == s.at:
		s.log.ResumeReason = protocol.ResumeReplayed
	case !c.learned(s, n):
		c.renew(s)
	}
	if s.until == 0 {
		c.release(s)
	} else {
		s.resumes = c.now.Add(resumeWait)
	}
}

// past lets what waits go on, once all that is past has come.
func (c *Client) past(s *session, a *seen) {
	s.resumes = c.now.Add(resumeWait)
	if at, err := protocol.ParsePosition(a.ID); err == nil && at.Seq >= s.until {
		c.release(s)
	}
}

// release carries out the commands that were held: how the session goes on is settled.
func (c *Client) release(s *session) {
	held := s.held
	s.held, s.resumes, s.until = nil, time.Time{}, 0
	for i := range held {
		c.command(&held[i])
	}
}

// learned takes what a session is from a server of our kind: a session that was not seen before, or whose log is another now. False when
// it does not say.
func (c *Client) learned(s *session, n *note) bool {
	at, err := protocol.ParsePosition(n.After)
	state := new(protocol.State)
	if err != nil || len(n.State) == 0 || json.Unmarshal(n.State, state) != nil {
		return false
	}
	if s.log.State.Turn != nil {
		c.lose(s)
	}
	if was, err := protocol.ParsePosition(s.at); err != nil || was.Epoch != at.Epoch {
		s.log.DropHistory()
	}
	s.log.Renew(c.epoch())
	s.log.ResetReason = protocol.ResetFresh
	state.Seq = 0 // our log begins here: what is finished is not told
	s.log.StartFrom(state)
	s.at, s.noted, s.alias.theirs, s.alias.ours = n.After, true, "", ""
	if n.Until > at.Seq {
		s.until = n.Until
	}
	return true
}

func (c *Client) unsubscribe(cmd *protocol.Command) {
	s := c.sessions[cmd.Session]
	if s == nil {
		c.fail(cmd, protocol.CodeNotSubscribed, "%s is not followed on this connection", cmd.Session)
		return
	}
	s.log.Detach()
	c.leave(s)
	delete(c.sessions, s.id)
	c.say(followMessage{Type: typeUnsubscribe, AgentRuntimeID: s.id})
	c.desk.Answer(c.out, cmd, protocol.Empty{})
}

// ordered lists the sessions, always in the same order.
func (c *Client) ordered() []*session {
	list := make([]*session, 0, len(c.sessions))
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		list = append(list, c.sessions[id])
	}
	return list
}

// add records what happened in a session.
func (c *Client) add(s *session, en codec.Entry) { s.log.Add(c.out, c.now, en) }

// raw keeps what maps to nothing.
func (c *Client) raw(s *session, method string, data []byte) {
	c.add(s, codec.Entry{Type: protocol.Raw, Turn: s.turn(), Data: codec.Raw(Name, method, data)})
}
