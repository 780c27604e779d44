package agentloop

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A sent message has not started its turn, as far as the server showed.
type pendingSend struct {
	cmd       *protocol.Command // that waits for an answer; nil: answered
	due       time.Time
	message   protocol.Message
	key       *keyedSend
	queued    bool // it is in the log's queue
	uncertain bool // sent on an earlier connection, that broke before the server showed that it has it
}

// sendMessage sends a message. A turn's start shows that the server has it; while another turn runs, it is queued there.
func (c *client) sendMessage(cmd *protocol.Command, d *protocol.SendData) {
	content := encodeContent(d)
	switch {
	case d.Front:
		c.FailUnsupported(cmd, "send ahead of the queue")
		return
	case len(content) == 0:
		c.Failf(cmd, protocol.CodeInvalidMessage, "send: text or parts are needed")
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
			c.Failf(cmd, protocol.CodeKeyReused, "the key was used with another message")
		case known.result != nil:
			c.Answer(cmd, known.result)
		default: // sending it again could do it twice
			c.retrySend(s, known)
		}
		return
	}
	s.key = c.state.addKey(cmd.Key, string(cmd.Data))
	c.send(userInputType, userInput{Input: []json.RawMessage{protocol.MustEncode(struct {
		Type    string            `json:"type"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}{messageItem, user, content})}})
	busy := c.turn != nil || !c.startsAt.IsZero() || slices.ContainsFunc(c.sends, func(s *pendingSend) bool { return !s.uncertain })
	c.sends = append(c.sends, s)
	if busy {
		c.enqueue(s)
	}
}

// enqueue notes that a message waits behind another turn.
func (c *client) enqueue(s *pendingSend) {
	at := c.Now.UTC().Truncate(time.Millisecond)
	s.queued, s.message.QueuedAt = true, &at
	index := len(c.log.State.Queue)
	c.addQueueEvent(protocol.QueueAdded, protocol.QueueAddedData{Message: s.message})
	c.acceptSend(s, &protocol.SendResult{
		Status: protocol.SendQueued, MessageID: s.message.MessageID, Index: &index, Seq: c.log.State.Seq,
	})
}

// retrySend takes a message that was sent before. The turn under way may be its; else the server may yet show it.
func (c *client) retrySend(s *pendingSend, known *keyedSend) {
	s.key, s.uncertain = known, true
	if t := c.turn; t != nil && s.matches(t.text) {
		c.acceptSend(s, &protocol.SendResult{Status: protocol.SendStarted, MessageID: t.message, Turn: t.id, Seq: t.first})
		return
	}
	c.sends = append(c.sends, s)
}

// addQueueEvent records a change of the queue, which belongs to no turn.
func (c *client) addQueueEvent(typ protocol.Type, data any) {
	turn := c.turn
	c.turn = nil
	c.addBy(typ, c.User(), data)
	c.turn = turn
}

// acceptSend answers a send, for good.
func (c *client) acceptSend(s *pendingSend, r *protocol.SendResult) {
	if s.key.result == nil {
		s.key.result = r
	}
	if s.cmd != nil {
		c.Answer(s.cmd, r)
		s.cmd = nil
	}
}

// rejectSend answers the oldest send that waits with an error of the server; false when none waits.
func (c *client) rejectSend(err *protocol.Error) bool {
	for i, s := range c.sends {
		if s.cmd != nil && !s.uncertain {
			c.Fail(s.cmd, err)
			c.state.removeKey(s.key)
			c.sends = slices.Delete(c.sends, i, i+1)
			return true
		}
	}
	return false
}

// takeNextSend takes out the message whose turn starts without a word about it: the oldest; nil: somebody else's.
func (c *client) takeNextSend() *pendingSend {
	for i, s := range c.sends {
		if !s.uncertain {
			return c.takeSend(i)
		}
	}
	return nil
}

// takeSendByText takes out the oldest message that says what was repeated, or nil.
func (c *client) takeSendByText(text string) *pendingSend {
	for i, s := range c.sends {
		if s.matches(text) {
			return c.takeSend(i)
		}
	}
	return nil
}

// takeSend takes a message out. What is before it was passed over by the server, which starts messages in order; of what was sent on
// an earlier connection that is not known.
func (c *client) takeSend(i int) *pendingSend {
	s := c.sends[i]
	var rest []*pendingSend
	for _, passed := range c.sends[:i] {
		if passed.uncertain {
			rest = append(rest, passed)
			continue
		}
		if passed.queued {
			c.addQueueEvent(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: passed.message.MessageID, Reason: protocol.RemovedUser})
		}
		if passed.cmd != nil {
			c.Failf(passed.cmd, protocol.CodeAgentFailed, "the server passed the message over")
		}
	}
	c.sends = append(rest, c.sends[i+1:]...)
	return s
}

// matches reports whether what the server repeated is this message.
func (s *pendingSend) matches(echo string) bool {
	echo, text := stripControls(echo), stripControls(s.message.Text)
	return echo == text || len(s.message.Parts) > 0 && strings.HasPrefix(echo, text)
}

// encodeContent is a message as parts of content.
func encodeContent(d *protocol.SendData) (list []json.RawMessage) {
	text := func(s string) { list = append(list, protocol.MustEncode(part{inputText, s})) }
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
			text(messageText(&protocol.Message{Parts: []protocol.Part{p}}))
		}
	}
	return list
}
