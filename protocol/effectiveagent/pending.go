package effectiveagent

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// errorTimeout is how long an error may take: the protocol does not answer what went well.
const errorTimeout = 500 * time.Millisecond

// resumeTimeout is how long a server of our kind may take to say that it goes on, on one connection; on the third it is taken for a
// server of another kind.
const (
	resumeTimeout     = 10 * time.Second
	maxResumeAttempts = 3
)

// A wait is a command of our client that has no answer yet.
type pendingCommand struct {
	command    protocol.Command
	id         string             // of the message that is sent
	send       *protocol.SendData // of a send; else nil
	data       any                // of any other
	doneAt     time.Time          // when it has gone well; zero: when an event says so
	needsEvent bool               // only an event says that it has gone well
	turn       string             // of an interrupt
	result     any                // its result, as far as events told it

	readsLog bool // at a session that nothing was heard of yet
}

// sendActivity sends an activity that carries a command, and remembers it until its answer is known. Too large ones fail.
func (c *client) sendActivity(w *pendingCommand, payload any) {
	f := formFromOptions(c.Options.Options)
	if k := c.state.sessions[w.command.Session]; k != nil {
		f = k.form
	}
	c.sequence++
	m := encodeMessage(sendMessage{typeSend, w.command.Session, activity{
		Sequence: c.sequence, Timestamp: f.encodeTime(c.Now), Type: f.typeName(kindInput), Payload: protocol.MustEncode(payload),
		AgentRuntimeID: w.command.Session, ID: w.id, Metadata: &metadata{Note: &note{Command: w.command.Command, Key: w.command.Key}},
	}})
	if len(m.Data) > protocol.MaxMessage { // a server of our kind would close the connection
		c.Fail(&w.command, &protocol.Error{
			Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + Name, Limit: protocol.MaxMessage,
		})
		return
	}
	if c.addPending(w) && (w.send == nil || c.markSending(w)) {
		c.Out.Foreign = append(c.Out.Foreign, m)
	}
}

// addPending remembers a command until its answer is known. Too many fail.
func (c *client) addPending(w *pendingCommand) bool {
	if len(c.pending) >= maxWaiting {
		c.Failf(&w.command, protocol.CodeTooMany, "too many commands wait for an answer")
		return false
	}
	w.doneAt = c.Now.Add(errorTimeout)
	c.pending = append(c.pending, w)
	return true
}

// removePending takes a command that is answered off the list.
func (c *client) removePending(w *pendingCommand) {
	c.pending = slices.DeleteFunc(c.pending, func(o *pendingCommand) bool { return o == w })
	c.state.unansweredKeys = removeKey(c.state.unansweredKeys, w.command.Key)
}

// markSending notes that a send goes out. False, with an answer, when it did so on a connection that broke: a server that knows no keys would
// hear it twice, and one that breaks on it would do so for ever.
func (c *client) markSending(w *pendingCommand) bool {
	key := w.command.Key
	if key == "" {
		return true
	}
	if s := c.sessions[w.command.Session]; slices.Contains(c.brokenKeys, key) && !c.Options.PeerIsAgentctl && (s == nil || !s.hasNotes) {
		c.brokenKeys = removeKey(c.brokenKeys, key)
		c.removePending(w)
		c.Failf(&w.command, protocol.CodeAgentFailed, "the connection broke while it was sent, and this server does not say whether it arrived: look before you send it again")
		return false
	}
	if c.state.unansweredKeys = append(removeKey(c.state.unansweredKeys, key), key); len(c.state.unansweredKeys) > maxWaiting {
		c.state.unansweredKeys = c.state.unansweredKeys[1:]
	}
	return true
}

func removeKey(keys []string, key string) []string {
	return slices.DeleteFunc(keys, func(k string) bool { return k == key })
}

func (c *client) duePending(now time.Time) (due []*pendingCommand) {
	for _, w := range c.pending {
		if !w.doneAt.IsZero() && !now.Before(w.doneAt) {
			due = append(due, w)
		}
	}
	return due
}

// pendingSends lists the sends to a session that have no answer yet.
func (c *client) pendingSends(s *session) (list []*pendingCommand) {
	for _, w := range c.pending {
		if w.send != nil && w.command.Session == s.id {
			list = append(list, w)
		}
	}
	return list
}

// sendMessage sends a message to an agent runtime.
func (c *client) sendMessage(cmd *protocol.Command) {
	var d protocol.SendData
	if !c.DecodeData(cmd, &d) {
		return
	}
	switch {
	case d.Text == "" && len(d.Parts) == 0:
		c.Failf(cmd, protocol.CodeInvalidMessage, "send: text or parts: missing")
		return
	case len(d.ClientMessageID) > maxID:
		c.Failf(cmd, protocol.CodeInvalidMessage, "send: client_message_id: at most %d bytes", maxID)
		return
	case d.Front:
		c.Failf(cmd, protocol.CodeUnsupported, "the dialect %s has no front of the queue", Name)
		return
	}
	w := &pendingCommand{command: *cmd, id: d.ClientMessageID, send: &d}
	if w.id == "" {
		if w.id = cmd.Key; w.id == "" {
			w.id = c.Options.ID("m")
		}
	}
	if c.sessions[cmd.Session] == nil && len(c.sessions) < maxRuntimes {
		if c.holdCommand(c.follow(cmd.Session), cmd) { // else what becomes of it would not be told, to whoever follows it next
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
	c.sendActivity(w, payload)
}

// succeed answers a command that no error came for.
func (c *client) succeed(w *pendingCommand) {
	if w.readsLog {
		c.removePending(w)
		c.answerNow(c.sessions[w.command.Session], &w.command)
		return
	}
	if w.send == nil {
		c.answerCarried(w)
		return
	}
	c.removePending(w)
	s := c.sessions[w.command.Session]
	r := protocol.SendResult{Status: protocol.SendStarted, MessageID: w.id}
	if s != nil && s.err == nil && !s.hasNotes { // nobody else will tell of it
		m := protocol.Message{MessageID: w.id, ClientMessageID: w.send.ClientMessageID, Text: w.send.Text, Parts: w.send.Parts}
		r.Turn = c.startLocalTurn(s, m, codec.Entry{By: c.User()})
		r.Seq = s.log.State.Turn.First
		s.recordSent(w.id, w.send.Text)
	}
	c.Answer(&w.command, r)
}

// matchEvent answers the commands that an event tells the fate of.
func (c *client) matchEvent(s *session, turn string, data any) {
	switch d := data.(type) {
	case *protocol.MessageUserData:
		c.answerSend(s, &d.Message, protocol.SendResult{Status: protocol.SendStarted, Turn: turn})
	case *protocol.QueueAddedData:
		i := s.log.State.QueueIndex(d.MessageID)
		c.answerSend(s, &d.Message, protocol.SendResult{Status: protocol.SendQueued, Index: &i})
	default:
		for _, w := range slices.Clone(c.pending) {
			if w.command.Session != s.id || w.result != nil {
				continue
			}
			if w.result = resultFromEvent(w, turn, data); w.result != nil && (w.doneAt.IsZero() || w.turn != "") {
				c.answerCarried(w)
			}
		}
	}
}

// answerSend answers the send that a message of the server's is.
func (c *client) answerSend(s *session, m *protocol.Message, r protocol.SendResult) {
	for _, w := range c.pendingSends(s) {
		if w.id == m.ClientMessageID {
			c.removePending(w)
			r.MessageID, r.Seq = m.MessageID, s.log.State.Seq
			c.Answer(&w.command, r)
			return
		}
	}
}
