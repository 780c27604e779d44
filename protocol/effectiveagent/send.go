package effectiveagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// answers reports whether the server of a session answers commands in notes.
func (c *client) answers(session string) bool {
	s := c.sessions[session]
	return c.Options.PeerIsAgentctl || s != nil && s.hasNotes
}

// formOf returns the form of activities for a session.
func (c *client) formOf(session string) activityForm {
	if k := c.state.sessions[session]; k != nil {
		return k.form
	}
	return formFromOptions(c.Options.Options)
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
	case d.Delivery == protocol.DeliverSteer:
		c.FailUnsupported(cmd, string(codec.SendSteer))
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
	w.result = protocol.SendResult{Status: protocol.SendStarted, MessageID: w.id}
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
	c.sendActivity(w, payload, c.formOf(cmd.Session), c.answers(cmd.Session))
}

// expire acts on a command without an error, and without evidence of its success, in time. A
// message is shown first, and then fails.
func (c *client) expire(w *pendingCommand) {
	s := c.sessions[w.command.Session]
	switch {
	case w.readsLog:
		c.removePending(w)
		s.answerFromLog(&w.command)
	case w.send != nil && !w.shown && c.Now.Before(w.sentAt.Add(sendTimeout)):
		c.showSend(w)
		w.doneAt = w.sentAt.Add(sendTimeout)
	default:
		c.removePending(w)
		c.Failf(&w.command, protocol.CodeTimeout,
			"the server did not confirm %s: look whether it was carried out before you try again", w.command.Command)
	}
}

// handleAnswer answers the command that an activity of agentctl's server answers. It returns false
// if the activity is not an answer.
func (c *client) handleAnswer(activity json.RawMessage) bool {
	n := decodeActivity(activity).Note
	if n.Answers == "" {
		return false
	}
	w := c.takeAnswered(n.Answers)
	if w == nil {
		return true
	}
	result := protocol.CommandOf(w.command.Command).Result()
	switch {
	case n.Error != nil:
		c.Fail(&w.command, n.Error)
	case json.Unmarshal(n.Result, result) != nil:
		c.Failf(&w.command, protocol.CodeInternal, "cannot read the answer of the server")
	default:
		if s := c.sessions[w.command.Session]; s != nil {
			s.localize(result)
		}
		c.Answer(&w.command, result)
	}
	return true
}

// showSend starts the turn of a message, unless the server will report it.
func (c *client) showSend(w *pendingCommand) {
	w.shown = true
	s := c.sessions[w.command.Session]
	if s == nil || s.err != nil || s.hasNotes {
		return
	}
	m := protocol.Message{
		MessageID: w.id, ClientMessageID: w.send.ClientMessageID, Text: w.send.Text, Parts: w.send.Parts,
	}
	w.result.Turn = s.turns.startLocal(m, codec.Entry{By: c.User()})
	w.result.Seq = s.log.State.Turn.First
	s.echoes.add(w.id, w.send.Text)
}

// acceptSend answers a send that the server confirmed by an activity.
func (c *client) acceptSend(w *pendingCommand) {
	c.removePending(w)
	if !w.shown {
		c.showSend(w)
	}
	c.Answer(&w.command, w.result)
}

// confirmedBy returns the pending send that an activity without a note confirms, or nil. An input
// confirms the send that it repeats, any other activity the oldest. Relayed messages come from
// other clients.
func (s *session) confirmedBy(a *receivedActivity) *pendingCommand {
	sends := s.x.pendingSends(s.id)
	if a.relayed || a.unreadable || a.Note.After != "" || a.Note.Event != "" || len(sends) == 0 {
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

// answerSend answers the send whose message an event reports.
func (s *session) answerSend(turn string, data any) {
	var m *protocol.Message
	r := protocol.SendResult{Status: protocol.SendStarted, Turn: turn}
	switch d := data.(type) {
	case *protocol.MessageUserData:
		m = &d.Message
	case *protocol.QueueAddedData:
		m = &d.Message
		i := s.log.State.QueueIndex(d.MessageID)
		r = protocol.SendResult{Status: protocol.SendQueued, Index: &i}
	default:
		return
	}
	for _, w := range s.x.pendingSends(s.id) {
		if w.id == m.ClientMessageID {
			s.x.removePending(w)
			r.MessageID, r.Seq = m.MessageID, s.log.State.Seq
			s.x.Answer(&w.command, r)
			return
		}
	}
}

// localize replaces the turns and seqs in a result of agentctl's server with the log's.
func (s *session) localize(result any) {
	switch r := result.(type) {
	case *protocol.SendResult:
		r.Turn, r.Seq = s.alias.toLocal(r.Turn), s.log.State.Seq
	case *protocol.InterruptResult:
		r.Turn = s.alias.toLocal(r.Turn)
	}
}

// echoes finds the messages of this client that a server repeats.
type echoes struct {
	ids   []string // of the newest messages recorded when sent
	texts []string // their texts, until the agent is active: a server that drops ids may echo them
}

// maxEchoes bounds the ids and texts of echoes.
const maxEchoes = 16

// add remembers a message that was recorded when it was sent.
func (e *echoes) add(id, text string) {
	e.ids, e.texts = append(e.ids, id), append(e.texts, text)
	e.ids, e.texts = e.ids[max(0, len(e.ids)-maxEchoes):], e.texts[max(0, len(e.texts)-maxEchoes):]
}

// take reports whether an input echoes a message of this client: by its id or, once, by its text.
// Relayed inputs are another client's.
func (e *echoes) take(a *receivedActivity, text string) bool {
	if a.relayed {
		return false
	}
	at := slices.Index(e.texts, text)
	if at >= 0 {
		e.texts = slices.Delete(e.texts, at, at+1)
	}
	return at >= 0 || a.ID != "" && slices.Contains(e.ids, a.ID)
}
