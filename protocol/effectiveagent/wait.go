package effectiveagent

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// grace is how long an error may take: the protocol does not answer what went well.
const grace = 500 * time.Millisecond

// resumeWait is how long a server of our kind may take to say that it goes on, on one connection; on the third it is taken for a
// server of another kind.
const (
	resumeWait  = 10 * time.Second
	resumeTries = 3
)

// A wait is a command of our client that has no answer yet.
type wait struct {
	cmd  protocol.Command
	id   string             // of the message that is sent
	send *protocol.SendData // of a send; else nil
	data any                // of any other
	due  time.Time          // when it has gone well; zero: when an event says so
	ends bool               // only an event says that it has gone well
	turn string             // of an interrupt
	told any                // its result, as far as events told it

	looks bool // at a session that nothing was heard of yet
}

// act sends an activity that carries a command, and remembers it until its answer is known. Too large ones fail.
func (c *Client) act(w *wait, payload any) {
	f := formOf(c.call.Options)
	if k := c.memory.sessions[w.cmd.Session]; k != nil {
		f = k.form
	}
	c.sequence++
	m := frame(sendMessage{typeSend, w.cmd.Session, activity{
		Sequence: c.sequence, Timestamp: f.time(c.now), Type: f.kind(kindInput), Payload: protocol.MustEncode(payload),
		AgentRuntimeID: w.cmd.Session, ID: w.id, Metadata: &metadata{Note: &note{Command: w.cmd.Command, Key: w.cmd.Key}},
	}})
	if len(m.Data) > protocol.MaxMessage { // a server of our kind would close the connection
		c.desk.Fail(c.out, &w.cmd, &protocol.Error{
			Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + Name, Limit: protocol.MaxMessage,
		})
		return
	}
	if c.expect(w) && (w.send == nil || c.risk(w)) {
		c.out.Foreign = append(c.out.Foreign, m)
	}
}

// expect remembers a command until its answer is known. Too many fail.
func (c *Client) expect(w *wait) bool {
	if len(c.waiting) >= maxWaiting {
		c.fail(&w.cmd, protocol.CodeTooMany, "too many commands wait for an answer")
		return false
	}
	w.due = c.now.Add(grace)
	c.waiting = append(c.waiting, w)
	return true
}

// forget takes a command that is answered off the list.
func (c *Client) forget(w *wait) {
	c.waiting = slices.DeleteFunc(c.waiting, func(o *wait) bool { return o == w })
	c.memory.unheard = without(c.memory.unheard, w.cmd.Key)
}

// risk notes that a send goes out. False, with an answer, when it did so on a connection that broke: a server that knows no keys would
// hear it twice, and one that breaks on it would do so for ever.
func (c *Client) risk(w *wait) bool {
	key := w.cmd.Key
	if key == "" {
		return true
	}
	if s := c.sessions[w.cmd.Session]; slices.Contains(c.broke, key) && !c.call.PeerIsAgentctl && (s == nil || !s.noted) {
		c.broke = without(c.broke, key)
		c.forget(w)
		c.fail(&w.cmd, protocol.CodeAgentFailed, "the connection broke while it was sent, and this server does not say whether it arrived: look before you send it again")
		return false
	}
	if c.memory.unheard = append(without(c.memory.unheard, key), key); len(c.memory.unheard) > maxWaiting {
		c.memory.unheard = c.memory.unheard[1:]
	}
	return true
}

func without(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(k string) bool { return k == key })
}

func (c *Client) dueBy(now time.Time) (due []*wait) {
	for _, w := range c.waiting {
		if !w.due.IsZero() && !now.Before(w.due) {
			due = append(due, w)
		}
	}
	return due
}

// sendsTo lists the sends to a session that have no answer yet.
func (c *Client) sendsTo(s *session) (list []*wait) {
	for _, w := range c.waiting {
		if w.send != nil && w.cmd.Session == s.id {
			list = append(list, w)
		}
	}
	return list
}

// send says a message to an agent runtime.
func (c *Client) send(cmd *protocol.Command) {
	var d protocol.SendData
	if !c.data(cmd, &d) {
		return
	}
	switch {
	case d.Text == "" && len(d.Parts) == 0:
		c.fail(cmd, protocol.CodeInvalidMessage, "send: text or parts: missing")
		return
	case len(d.ClientMessageID) > maxID:
		c.fail(cmd, protocol.CodeInvalidMessage, "send: client_message_id: at most %d bytes", maxID)
		return
	case d.Front:
		c.fail(cmd, protocol.CodeUnsupported, "the dialect %s has no front of the queue", Name)
		return
	}
	w := &wait{cmd: *cmd, id: d.ClientMessageID, send: &d}
	if w.id == "" {
		if w.id = cmd.Key; w.id == "" {
			w.id = c.call.ID("m")
		}
	}
	if c.sessions[cmd.Session] == nil && len(c.sessions) < maxRuntimes {
		if c.hold(c.open(cmd.Session), cmd) { // else what becomes of it would not be told, to whoever follows it next
			return
		}
	}
	var payload any = d.Text
	if len(d.Parts) > 0 {
		payload = struct {
			Text  string          `json:"text"`
			Parts []protocol.Part `json:"parts"`
		}{d.Text, d.Parts}
	}
	c.act(w, payload)
}

// unrefused answers a command that no error came for.
func (c *Client) unrefused(w *wait) {
	if w.looks {
		c.forget(w)
		c.seen(c.sessions[w.cmd.Session], &w.cmd)
		return
	}
	if w.send == nil {
		c.carried(w)
		return
	}
	c.forget(w)
	s := c.sessions[w.cmd.Session]
	r := protocol.SendResult{Status: protocol.SendStarted, MessageID: w.id}
	if s != nil && s.refused == nil && !s.noted { // nobody else will tell of it
		m := protocol.Message{MessageID: w.id, ClientMessageID: w.send.ClientMessageID, Text: w.send.Text, Parts: w.send.Parts}
		r.Turn = c.starts(s, m, codec.Entry{By: c.me()})
		r.Seq = s.log.State.Turn.First
		s.remember(w.id, w.send.Text)
	}
	c.desk.Answer(c.out, &w.cmd, r)
}

// learn answers the commands that an event tells the fate of.
func (c *Client) learn(s *session, turn string, data any) {
	switch d := data.(type) {
	case *protocol.MessageUserData:
		c.sent(s, &d.Message, protocol.SendResult{Status: protocol.SendStarted, Turn: turn})
	case *protocol.QueueAddedData:
		i := s.log.State.QueueIndex(d.MessageID)
		c.sent(s, &d.Message, protocol.SendResult{Status: protocol.SendQueued, Index: &i})
	default:
		for _, w := range slices.Clone(c.waiting) {
			if w.cmd.Session != s.id || w.told != nil {
				continue
			}
			if w.told = outcome(w, turn, data); w.told != nil && (w.due.IsZero() || w.turn != "") {
				c.carried(w)
			}
		}
	}
}

// sent answers the send that a message of the server's is.
func (c *Client) sent(s *session, m *protocol.Message, r protocol.SendResult) {
	for _, w := range c.sendsTo(s) {
		if w.id == m.ClientMessageID {
			c.forget(w)
			r.MessageID, r.Seq = m.MessageID, s.log.State.Seq
			c.desk.Answer(c.out, &w.cmd, r)
			return
		}
	}
}
