package effectiveagent

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// errorTimeout is the time to wait for an error: the protocol does not confirm success.
const errorTimeout = 500 * time.Millisecond

// resumeTimeout is the time that agentctl's server has to answer a resume on one connection. After
// maxResumeAttempts connections, the server is treated as another kind.
const (
	resumeTimeout     = 10 * time.Second
	maxResumeAttempts = 3
)

// A pendingCommand is a command without an answer.
type pendingCommand struct {
	command    protocol.Command
	id         string             // of the message sent
	send       *protocol.SendData // of a send; else nil
	data       any                // data of any other command
	doneAt     time.Time          // when it succeeds without an error; zero: only by an event
	needsEvent bool               // succeeds only by an event
	turn       string             // of an interrupt
	result     any                // from events

	readsLog bool // a snapshot or history command of a session without activities
}

// sendActivity sends an activity that carries a command, and adds it to the pending ones. An
// activity over the limit fails.
func (c *client) sendActivity(w *pendingCommand, payload any) {
	f := formFromOptions(c.Options.Options)
	if k := c.state.sessions[w.command.Session]; k != nil {
		f = k.form
	}
	c.sequence++
	m := encodeMessage(sendMessage{typeSend, w.command.Session, activity{
		Sequence: c.sequence, Timestamp: f.encodeTime(c.Now), Type: f.typeName(kindInput),
		Payload:        protocol.MustEncode(payload),
		AgentRuntimeID: w.command.Session, ID: w.id,
		Metadata: &metadata{Note: &note{Command: w.command.Command, Key: w.command.Key}},
	}})
	if len(m.Data) > protocol.MaxMessage { // agentctl's server would close the connection
		c.Fail(&w.command, &protocol.Error{
			Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + Name,
			Limit: protocol.MaxMessage,
		})
		return
	}
	if c.addPending(w) && (w.send == nil || c.markSending(w)) {
		c.Send(m)
	}
}

// addPending adds a command to the pending ones, or fails it if there are too many.
func (c *client) addPending(w *pendingCommand) bool {
	if len(c.pending) >= maxWaiting {
		c.Fail(&w.command, codec.TooMany(maxWaiting))
		return false
	}
	w.doneAt = c.Now.Add(errorTimeout)
	c.pending = append(c.pending, w)
	return true
}

// removePending removes an answered command.
func (c *client) removePending(w *pendingCommand) {
	c.pending = slices.DeleteFunc(c.pending, func(o *pendingCommand) bool { return o == w })
	c.state.unansweredKeys = removeKey(c.state.unansweredKeys, w.command.Key)
}

// markSending records the key of a send. It fails the send and returns false if the last connection
// broke before its answer: a server without keys would run it twice, and a server that crashes on
// it would crash again.
func (c *client) markSending(w *pendingCommand) bool {
	key := w.command.Key
	if key == "" {
		return true
	}
	s := c.sessions[w.command.Session]
	knowsKeys := c.Options.PeerIsAgentctl || s != nil && s.hasNotes
	if slices.Contains(c.brokenKeys, key) && !knowsKeys {
		c.brokenKeys = removeKey(c.brokenKeys, key)
		c.removePending(w)
		c.Failf(&w.command, protocol.CodeAgentFailed,
			"the connection broke while it was sent, and this server does not confirm messages: check before you retry")
		return false
	}
	keys := append(removeKey(c.state.unansweredKeys, key), key)
	c.state.unansweredKeys = keys[max(0, len(keys)-maxWaiting):]
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

// pendingSends returns the pending sends of a session.
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
		c.FailUnsupported(cmd, "send ahead of the queue")
		return
	}
	w := &pendingCommand{command: *cmd, id: d.ClientMessageID, send: &d}
	if w.id == "" {
		if w.id = cmd.Key; w.id == "" {
			w.id = c.Options.ID("m")
		}
	}
	if c.sessions[cmd.Session] == nil && len(c.sessions) < maxRuntimes {
		if c.holdCommand(c.follow(cmd.Session), cmd) { // so that the server reports the turn to later subscribers
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

// succeed answers a command without an error.
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
	if s != nil && s.err == nil && !s.hasNotes { // the server will not report it
		m := protocol.Message{
			MessageID: w.id, ClientMessageID: w.send.ClientMessageID, Text: w.send.Text, Parts: w.send.Parts,
		}
		r.Turn = c.startLocalTurn(s, m, codec.Entry{By: c.User()})
		r.Seq = s.log.State.Turn.First
		s.recordSent(w.id, w.send.Text)
	}
	c.Answer(&w.command, r)
}

// matchEvent answers the commands whose result an event gives.
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

// answerSend answers the send of a message that the server reports.
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
