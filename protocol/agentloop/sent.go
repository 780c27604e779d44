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
type sent struct {
	cmd     *protocol.Command // that waits for an answer; nil: answered
	due     time.Time
	message protocol.Message
	key     *keyed
	queued  bool // it is in the log's queue
	unsure  bool // sent on an earlier connection, that broke before the server showed that it has it
}

// sendMessage sends a message. A turn's start shows that the server has it; while another turn runs, it is queued there.
func (c *client) sendMessage(cmd *protocol.Command, d *protocol.SendData) {
	content := contentOf(d)
	switch {
	case d.Front:
		c.FailUnsupported(cmd, "send ahead of the queue")
		return
	case len(content) == 0:
		c.Failf(cmd, protocol.CodeInvalidMessage, "send: text or parts are needed")
		return
	case len(c.sends) >= maxAsked:
		c.Fail(cmd, codec.TooMany(maxAsked))
		return
	}
	s := &sent{cmd: cmd, due: c.Now.Add(startWait), message: protocol.Message{
		MessageID: c.mint("m"), ClientMessageID: d.ClientMessageID, Text: d.Text, Parts: d.Parts, By: c.User(),
	}}
	if known, ok := c.memory.keys.Get(cmd.Key); ok {
		switch {
		case known.body != string(cmd.Data):
			c.Failf(cmd, protocol.CodeKeyReused, "the key was used with another message")
		case known.result != nil:
			c.Answer(cmd, known.result)
		default: // sending it again could do it twice
			c.again(s, known)
		}
		return
	}
	s.key = c.memory.keep(cmd.Key, string(cmd.Data))
	c.send(userInputType, userInput{Input: []json.RawMessage{protocol.MustEncode(struct {
		Type    string            `json:"type"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	}{messageItem, user, content})}})
	busy := c.turn != nil || !c.starts.IsZero() || slices.ContainsFunc(c.sends, func(s *sent) bool { return !s.unsure })
	c.sends = append(c.sends, s)
	if busy {
		c.queue(s)
	}
}

// queue notes that a message waits behind another turn.
func (c *client) queue(s *sent) {
	at := c.Now.UTC().Truncate(time.Millisecond)
	s.queued, s.message.QueuedAt = true, &at
	index := len(c.log.State.Queue)
	c.addQueue(protocol.QueueAdded, protocol.QueueAddedData{Message: s.message})
	c.accepted(s, &protocol.SendResult{
		Status: protocol.SendQueued, MessageID: s.message.MessageID, Index: &index, Seq: c.log.State.Seq,
	})
}

// again takes a message that was sent before. The turn under way may be its; else the server may yet show it.
func (c *client) again(s *sent, known *keyed) {
	s.key, s.unsure = known, true
	if t := c.turn; t != nil && s.says(t.text) {
		c.accepted(s, &protocol.SendResult{Status: protocol.SendStarted, MessageID: t.message, Turn: t.id, Seq: t.first})
		return
	}
	c.sends = append(c.sends, s)
}

// addQueue records a change of the queue, which belongs to no turn.
func (c *client) addQueue(typ protocol.Type, data any) {
	turn := c.turn
	c.turn = nil
	c.addBy(typ, c.User(), data)
	c.turn = turn
}

// accepted answers a send, for good.
func (c *client) accepted(s *sent, r *protocol.SendResult) {
	if s.key.result == nil {
		s.key.result = r
	}
	if s.cmd != nil {
		c.Answer(s.cmd, r)
		s.cmd = nil
	}
}

// refuse answers the oldest send that waits with an error of the server; false when none waits.
func (c *client) refuse(err *protocol.Error) bool {
	for i, s := range c.sends {
		if s.cmd != nil && !s.unsure {
			c.Fail(s.cmd, err)
			c.memory.forget(s.key)
			c.sends = slices.Delete(c.sends, i, i+1)
			return true
		}
	}
	return false
}

// unnamed takes out the message whose turn starts without a word about it: the oldest; nil: somebody else's.
func (c *client) unnamed() *sent {
	for i, s := range c.sends {
		if !s.unsure {
			return c.takeOut(i)
		}
	}
	return nil
}

// named takes out the oldest message that says what was repeated, or nil.
func (c *client) named(text string) *sent {
	for i, s := range c.sends {
		if s.says(text) {
			return c.takeOut(i)
		}
	}
	return nil
}

// takeOut takes a message out. What is before it was passed over by the server, which starts messages in order; of what was sent on
// an earlier connection that is not known.
func (c *client) takeOut(i int) *sent {
	s := c.sends[i]
	var rest []*sent
	for _, passed := range c.sends[:i] {
		if passed.unsure {
			rest = append(rest, passed)
			continue
		}
		if passed.queued {
			c.addQueue(protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: passed.message.MessageID, Reason: protocol.RemovedUser})
		}
		if passed.cmd != nil {
			c.Failf(passed.cmd, protocol.CodeAgentFailed, "the server passed the message over")
		}
	}
	c.sends = append(rest, c.sends[i+1:]...)
	return s
}

// says reports whether what the server repeated is this message.
func (s *sent) says(echo string) bool {
	echo, text := clean(echo), clean(s.message.Text)
	return echo == text || len(s.message.Parts) > 0 && strings.HasPrefix(echo, text)
}

// contentOf is a message as parts of content.
func contentOf(d *protocol.SendData) (list []json.RawMessage) {
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
			text(spoken(&protocol.Message{Parts: []protocol.Part{p}}))
		}
	}
	return list
}
