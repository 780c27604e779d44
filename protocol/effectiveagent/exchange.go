package effectiveagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The protocol reports errors but confirms nothing. agentctl's server answers commands in notes. At
// any other server an activity of the agent runtime confirms a message.
const (
	errorTimeout  = 500 * time.Millisecond // for an error, before a message is shown
	sendTimeout   = 30 * time.Second       // for an activity
	answerTimeout = 2 * time.Minute        // for the answer of agentctl's server
)

// resumeTimeout is the time that agentctl's server has to answer a resume on one connection. After
// maxResumeAttempts connections, the server is treated as another kind.
const (
	resumeTimeout     = 10 * time.Second
	maxResumeAttempts = 3
)

// A pendingCommand is a command without an answer.
type pendingCommand struct {
	command  protocol.Command
	id       string             // of the message sent
	send     *protocol.SendData // of a send; else nil
	sentAt   time.Time
	doneAt   time.Time            // when the wait for an error or for evidence ends
	started  *protocol.SendResult // of a send whose turn was started without evidence; nil: not yet
	readsLog bool                 // a snapshot or history command of a session without activities
}

// answers reports whether the server of a session, nil if it has none, answers commands in notes.
func (c *client) answers(s *session) bool { return c.Options.PeerIsAgentctl || s != nil && s.hasNotes }

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
	w.sentAt, w.doneAt = c.Now, c.Now.Add(errorTimeout)
	if !w.readsLog && c.answers(c.sessions[w.command.Session]) {
		w.doneAt = c.Now.Add(answerTimeout)
	}
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
	if slices.Contains(c.brokenKeys, key) && !c.answers(s) {
		c.brokenKeys = removeKey(c.brokenKeys, key)
		c.removePending(w)
		c.Failf(&w.command, protocol.CodeTimeout,
			"the connection broke while it was sent, and this server does not confirm messages: "+
				"look whether it arrived before you send it again")
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
	case d.NotBefore != nil:
		c.FailUnsupported(cmd, string(codec.SendAt))
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

// expire acts on a command without an error, and without evidence of its success, in time. A
// message is shown first, and then fails.
func (c *client) expire(w *pendingCommand) {
	s := c.sessions[w.command.Session]
	switch {
	case w.readsLog:
		c.removePending(w)
		c.answerNow(s, &w.command)
	case w.send != nil && w.started == nil && c.Now.Before(w.sentAt.Add(sendTimeout)):
		c.showSend(w)
		w.doneAt = w.sentAt.Add(sendTimeout)
	default:
		c.removePending(w)
		c.Failf(&w.command, protocol.CodeTimeout,
			"the server did not confirm %s: look whether it was carried out before you try again", w.command.Command)
	}
}

// showSend starts the turn of a message that the server does not report.
func (c *client) showSend(w *pendingCommand) {
	w.started = &protocol.SendResult{Status: protocol.SendStarted, MessageID: w.id}
	s := c.sessions[w.command.Session]
	if s == nil || s.err != nil || s.hasNotes { // the server will report it
		return
	}
	m := protocol.Message{
		MessageID: w.id, ClientMessageID: w.send.ClientMessageID, Text: w.send.Text, Parts: w.send.Parts,
	}
	w.started.Turn = c.startLocalTurn(s, m, codec.Entry{By: c.User()})
	w.started.Seq = s.log.State.Turn.First
	s.recordSent(w.id, w.send.Text)
}

// acceptSend answers a send that the server confirmed by an activity.
func (c *client) acceptSend(w *pendingCommand) {
	c.removePending(w)
	if w.started == nil {
		c.showSend(w)
	}
	c.Answer(&w.command, w.started)
}

// confirmedBy returns which of the pending sends an activity without a note confirms, or nil: an
// input the one that it repeats, any other activity the oldest. Relayed messages are of others.
func (s *session) confirmedBy(a *receivedActivity, sends []*pendingCommand) *pendingCommand {
	if a.relayed || len(sends) == 0 {
		return nil
	}
	if a.kind != kindInput {
		return sends[0]
	}
	text, _ := payloadText(a.Payload)
	for _, w := range sends {
		if a.ID != "" && a.ID == w.id || text == w.send.Text {
			return w
		}
	}
	return nil
}

// handleAnswer answers the command that an activity of agentctl's server answers. It returns false
// if the activity is no answer.
func (c *client) handleAnswer(activity json.RawMessage) bool {
	n := decodeActivity(activity).Note
	if n.Answers == "" {
		return false
	}
	i := slices.IndexFunc(c.pending, func(w *pendingCommand) bool { return !w.readsLog && w.id == n.Answers })
	if i < 0 {
		return true
	}
	w := c.pending[i]
	c.removePending(w)
	result := protocol.CommandOf(w.command.Command).Result()
	switch {
	case n.Error != nil:
		c.Fail(&w.command, n.Error)
	case json.Unmarshal(n.Result, result) != nil:
		c.Failf(&w.command, protocol.CodeInternal, "cannot read the answer of the server")
	default:
		c.Answer(&w.command, c.localResult(c.sessions[w.command.Session], result))
	}
	return true
}

// localResult returns a result of agentctl's server with the turns and seqs of the client's log. s
// is nil if there is none.
func (c *client) localResult(s *session, result any) any {
	if s == nil {
		return result
	}
	switch r := result.(type) {
	case *protocol.SendResult:
		r.Turn, r.Seq = s.localTurnID(r.Turn), s.log.State.Seq
	case *protocol.InterruptResult:
		r.Turn = s.localTurnID(r.Turn)
	}
	return result
}

// matchEvent answers the send whose message an event reports.
func (c *client) matchEvent(s *session, turn string, data any) {
	switch d := data.(type) {
	case *protocol.MessageUserData:
		c.answerSend(s, &d.Message, protocol.SendResult{Status: protocol.SendStarted, Turn: turn})
	case *protocol.QueueAddedData:
		i := s.log.State.QueueIndex(d.MessageID)
		c.answerSend(s, &d.Message, protocol.SendResult{Status: protocol.SendQueued, Index: &i})
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
