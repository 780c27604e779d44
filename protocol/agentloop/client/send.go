package client

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A pendingSend is a message that the server has not shown yet: its turn has not started, nor is it
// part of the turn under way.
type pendingSend struct {
	cmd       *protocol.Command // waits for its answer; nil: answered
	id        string            // of the frame; empty: sent on an earlier connection
	due       time.Time
	message   protocol.Message
	key       *keyedSend
	queued    bool // in the log's queue
	uncertain bool // sent on an earlier connection, and not confirmed by the server
}

// queues reports whether the server queues a message that comes during a turn, as agentctl's does.
// In any other, the message becomes part of the turn and aborts its pending request.
func (c *Conn) queues() bool { return c.Options.PeerIsAgentctl }

// wouldAbort is the error of a message that was not sent. It fits on a line of the screen.
const wouldAbort = "it would abort the pending request: decide that first, or deny it with this as the reason"

// sendMessage sends a message. The start of its turn, its echo in the turn under way, or the report
// of agentctl's server that it is queued confirms it. Until then it has no answer. A server without
// a queue aborts a pending request for a message, so that needs d.Front: the message goes ahead of
// the request.
func (c *Conn) sendMessage(cmd *protocol.Command, d *protocol.SendData) {
	content := encodeContent(d)
	switch {
	case d.Front && (c.queues() || len(c.log.State.Approvals) == 0):
		c.FailUnsupported(cmd, "send ahead of the queue")
		return
	case d.NotBefore != nil:
		c.FailUnsupported(cmd, string(codec.SendAt))
		return
	case len(content) == 0:
		c.Failf(cmd, protocol.CodeInvalidMessage, "send: text or parts: missing")
		return
	case slices.ContainsFunc(d.Parts, isFile):
		c.FailUnsupported(cmd, "files that are neither text nor images")
		return
	case len(c.sends) >= maxPending:
		c.Fail(cmd, codec.TooMany(maxPending))
		return
	}
	s := &pendingSend{cmd: cmd, due: c.Now.Add(startTimeout), message: protocol.Message{
		MessageID: c.newID("m"), ClientMessageID: d.ClientMessageID, Text: d.Text, Parts: d.Parts, By: c.User(),
	}}
	if known, ok := c.state.keys.Get(cmd.Key); ok {
		switch {
		case known.body != string(cmd.Data):
			c.Failf(cmd, protocol.CodeKeyReused, "the key was used for another command")
		case known.result != nil:
			c.Answer(cmd, known.result)
		default: // a second copy could run twice
			c.retrySend(s, known)
		}
		return
	}
	if !d.Front && !c.queues() && len(c.log.State.Approvals) > 0 && c.decision == nil {
		c.Fail(cmd, protocol.Errorf(protocol.CodeConflict, wouldAbort))
		return
	}
	s.key = c.state.addKey(cmd.Key, string(cmd.Data))
	s.id = c.send(wire.UserInputType, wire.UserInput{Input: []json.RawMessage{protocol.MustEncode(struct {
		Type    string            `json:"type"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}{wire.MessageItem, wire.User, content})}})
	c.sends = append(c.sends, s)
}

// sentAs returns the unanswered message that was sent in the frame with an id, or nil. Answers of
// agentctl's server have the id of the frame that they answer.
func (c *Conn) sentAs(id string) *pendingSend {
	for _, s := range c.sends {
		if c.queues() && s.cmd != nil && id != "" && s.id == id {
			return s
		}
	}
	return nil
}

// enqueue records that agentctl's server has queued a message.
func (c *Conn) enqueue(s *pendingSend) {
	at := c.Now.UTC().Truncate(time.Millisecond)
	s.queued, s.message.QueuedAt = true, &at
	index := len(c.log.State.Queue)
	c.addQueueEvent(protocol.QueueAdded, protocol.QueueAddedData{Message: s.message})
	c.acceptSend(s, &protocol.SendResult{
		Status: protocol.SendQueued, MessageID: s.message.MessageID, Index: &index, Seq: c.log.State.Seq,
	})
}

// retrySend handles a message that was sent before. The turn under way may be its, or the server
// may show it later.
func (c *Conn) retrySend(s *pendingSend, known *keyedSend) {
	s.key, s.uncertain = known, true
	if t := c.turn; t != nil && s.matches(t.text) {
		c.acceptSend(
			s, &protocol.SendResult{Status: protocol.SendStarted, MessageID: t.message, Turn: t.id, Seq: t.first},
		)
		return
	}
	c.sends = append(c.sends, s)
}

// addQueueEvent records an event of the queue, which belongs to no turn.
func (c *Conn) addQueueEvent(typ protocol.Type, data any) {
	turn := c.turn
	c.turn = nil
	c.addBy(typ, c.User(), data)
	c.turn = turn
}

// acceptSend answers a send and stores the answer for its key.
func (c *Conn) acceptSend(s *pendingSend, r *protocol.SendResult) {
	if s.key.result == nil {
		s.key.result = r
	}
	if s.cmd != nil {
		c.Answer(s.cmd, r)
		s.cmd = nil
	}
}

// rejectSend fails a send with an error of the server.
func (c *Conn) rejectSend(s *pendingSend, err *protocol.Error) {
	c.Fail(s.cmd, err)
	c.state.removeKey(s.key)
	c.sends = slices.DeleteFunc(c.sends, func(other *pendingSend) bool { return other == s })
}

// oldestSend returns the oldest send of this connection without an answer, or nil.
func (c *Conn) oldestSend() *pendingSend {
	for _, s := range c.sends {
		if s.cmd != nil && !s.uncertain {
			return s
		}
	}
	return nil
}

// takeNextSend removes and returns the oldest message, whose turn starts without an echo; nil: the
// turn is another user's. agentctl's server repeats every message.
func (c *Conn) takeNextSend() *pendingSend {
	if c.queues() {
		return nil
	}
	for i, s := range c.sends {
		if !s.uncertain {
			return c.takeSend(i)
		}
	}
	return nil
}

// takeSendByText removes and returns the oldest message with the echoed text, or nil.
func (c *Conn) takeSendByText(text string) *pendingSend {
	for i, s := range c.sends {
		if s.matches(text) {
			return c.takeSend(i)
		}
	}
	return nil
}

// takeSend removes and returns a message. The server starts messages in order, so it passed over
// earlier ones, except those of an earlier connection, whose fate is unknown.
func (c *Conn) takeSend(i int) *pendingSend {
	s := c.sends[i]
	var rest []*pendingSend
	for _, passed := range c.sends[:i] {
		if passed.uncertain {
			rest = append(rest, passed)
			continue
		}
		if passed.queued {
			c.addQueueEvent(
				protocol.QueueRemoved,
				protocol.QueueRemovedData{MessageID: passed.message.MessageID, Reason: protocol.RemovedUser},
			)
		}
		if passed.cmd != nil {
			c.Failf(passed.cmd, protocol.CodeAgentFailed, "the server skipped the message")
		}
	}
	c.sends = append(rest, c.sends[i+1:]...)
	return s
}

// matches reports whether an echo is of this message.
func (s *pendingSend) matches(echo string) bool {
	echo, text := wire.StripControls(echo), wire.StripControls(s.message.Text)
	return echo == text || len(s.message.Parts) > 0 && strings.HasPrefix(echo, text)
}

// isFile reports whether a part is a file whose content the protocol cannot carry.
func isFile(p protocol.Part) bool {
	return p.URL != "" && p.Type != "text" && p.Type != "image" && p.Text == "" && p.Data == nil
}

// encodeContent returns a message as content parts.
func encodeContent(d *protocol.SendData) (list []json.RawMessage) {
	text := func(s string) { list = append(list, protocol.MustEncode(wire.Part{Type: wire.InputText, Text: s})) }
	if d.Text != "" {
		text(d.Text)
	}
	for _, p := range d.Parts {
		switch {
		case p.Type == "text":
			text(p.Text)
		case p.Type == "image" && p.URL != "":
			list = append(list, protocol.MustEncode(struct {
				Type string `json:"type"`
				URL  string `json:"image_url"`
			}{"input_image", p.URL}))
		case p.Data != nil && json.Valid(p.Data):
			list = append(list, p.Data)
		default:
			text(wire.MessageText(&protocol.Message{Parts: []protocol.Part{p}}))
		}
	}
	return list
}
