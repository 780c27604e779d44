package multiagent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A spoken turn is one that our client's end hears.
type spoken struct {
	id      string
	message string // of the server, that its chunks are of
	part    string // open; empty: none
	agent   string // of the part
	parts   int
	text    []byte // of the message so far
	said    bool   // it had any text
	theirs  bool   // somebody else began it
	command bool   // it asks for one tool and may have no other answer
	denied  bool   // a decision of ours stops it
	started time.Time
}

// post sends a message. A message from the queue counts as sent at once: it was accepted before.
func (c *Client) post(t *thread, m protocol.Message, cmd *protocol.Command) {
	t.quiet = false
	t.taken = true
	c.say(frame{Type: typeSend, Conversation: t.log.Session, Payload: content{m.Text, c.call.Options["thinking"] == "true"}})
	w := &wait{command: cmd, verb: protocol.DoSend, deadline: c.now.Add(patience), message: m}
	if cmd != nil {
		c.wait(t, w)
	} else {
		c.accept(t, w)
	}
}

// accept begins the turn of a message that the server took.
func (c *Client) accept(t *thread, w *wait) {
	if t.turn != nil { // somebody else's began meanwhile
		c.end(t, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	}
	t.turn = &spoken{id: c.call.ID("t"), command: strings.HasPrefix(w.message.Text, "/tool "), started: c.now}
	c.add(t, protocol.MessageUser, w.message.By, protocol.MessageUserData{Message: w.message})
	at := t.log.State.Seq
	c.add(t, protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: w.message.MessageID, Agent: t.agent})
	c.settle(w.command, protocol.SendResult{Status: protocol.SendStarted, MessageID: w.message.MessageID, Turn: t.turn.id, Seq: at})
}

// listen makes sure that there is a turn: that of the message just sent, or one that somebody else began.
func (c *Client) listen(t *thread) *spoken {
	t.quiet = false
	if w := t.waiting(protocol.DoSend); w != nil && t.unwait(w) {
		c.accept(t, w)
	}
	if t.turn == nil {
		t.turn = &spoken{id: c.call.ID("t"), theirs: true, started: c.now}
		m := protocol.Message{MessageID: c.call.ID("m")}
		c.add(t, protocol.MessageUser, nil, protocol.MessageUserData{Message: m})
		c.add(t, protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: m.MessageID, Agent: t.agent})
	}
	return t.turn
}

// hears takes text of a message.
func (c *Client) hears(t *thread, message, agent, text string) {
	u := c.listen(t)
	if u.part == "" || u.message != message || agent != "" && agent != u.agent {
		c.endPart(t)
		if u.message != message {
			u.text = nil
		}
		u.parts++
		u.part, u.message, u.agent = fmt.Sprintf("p%d", u.parts), message, agent
		c.add(t, protocol.TextStart, nil, protocol.PartStartData{Part: u.part, Agent: agent})
	}
	if text == "" {
		return
	}
	u.said = true
	u.text = append(u.text, text[:min(len(text), maxContent-len(u.text))]...)
	for _, piece := range protocol.SplitText(text, protocol.MaxText) {
		c.add(t, protocol.TextDelta, nil, protocol.PartDeltaData{Part: u.part, Text: piece})
	}
}

// completed takes a message whole: what its chunks did not say is said now.
func (c *Client) completed(t *thread, h heard) {
	u := c.listen(t)
	message, agent, whole := h.word("messageId"), h.word("agentName"), h.text("content")
	said := ""
	if u.message == message {
		said = string(u.text)
	}
	switch {
	case whole == "" || strings.HasPrefix(said, whole):
	case said == "":
		c.hears(t, message, agent, whole)
	case strings.HasPrefix(whole, said):
		c.hears(t, message, u.agent, whole[len(said):])
	default: // the chunks were of its end
		c.endPart(t)
		c.hears(t, message, agent, whole)
	}
	meta := hear(h["metadata"])
	ended := protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: meta.number("durationMs")}
	if n := meta.number("tokenCount"); n > 0 {
		ended.Usage = &protocol.Usage{Output: n}
	}
	c.end(t, ended)
	c.proceed(t)
}

func (c *Client) endPart(t *thread) {
	if u := t.turn; u.part != "" {
		c.add(t, protocol.TextEnd, nil, protocol.PartEndData{Part: u.part})
		u.part = ""
	}
}

// end ends the turn, and all that is open in it.
func (c *Client) end(t *thread, d protocol.TurnEndedData) {
	c.endPart(t)
	for _, a := range slices.Clone(t.log.State.Approvals) {
		c.resolve(t, a.Request, nil, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
	}
	for _, tool := range slices.Sorted(maps.Keys(t.tools)) {
		c.add(t, protocol.ToolEnded, nil, protocol.ToolEndedData{Tool: tool, Status: protocol.ToolUnknown})
	}
	clear(t.tools)
	if d.DurationMS == 0 {
		d.DurationMS = c.now.Sub(t.turn.started).Milliseconds()
	}
	c.add(t, protocol.TurnEnded, nil, d)
	t.turn, t.over = nil, time.Time{}
}

// silent ends a turn that had a tool and maybe no other answer, after which nothing was said.
func (c *Client) silent(t *thread) {
	c.end(t, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	c.proceed(t)
}

// proceed sends the next message of the queue, if it may be.
func (c *Client) proceed(t *thread) {
	if t.turn != nil || t.waiting(protocol.DoSend) != nil {
		return
	}
	if m := t.log.State.NextQueued(); m != nil {
		next := *m
		c.add(t, protocol.QueueRemoved, nil, protocol.QueueRemovedData{MessageID: next.MessageID, Reason: protocol.RemovedStarted})
		c.post(t, next, nil)
	}
}

// thinks takes a thought as reasoning.
func (c *Client) thinks(t *thread, h heard) {
	why := h.text("reason")
	if h.word("agentId") == queueAgent {
		c.add(t, protocol.Notice, nil, protocol.NoticeData{Level: protocol.LevelInfo, Message: clip(why)})
		return
	}
	u := c.listen(t)
	u.parts++
	part := fmt.Sprintf("p%d", u.parts)
	c.add(t, protocol.ReasoningStart, nil, protocol.PartStartData{Part: part, Agent: h.word("agentName")})
	for _, piece := range protocol.SplitText(why, protocol.MaxText) {
		c.add(t, protocol.ReasoningDelta, nil, protocol.PartDeltaData{Part: part, Text: piece})
	}
	c.add(t, protocol.ReasoningEnd, nil, protocol.PartEndData{Part: part})
}

// raw keeps what has no place.
func (c *Client) raw(t *thread, kind string, data []byte) {
	if t != nil {
		c.add(t, protocol.Raw, nil, protocol.RawData{Source: Name, Method: kind, Data: fit(data)})
	}
}

// maxData bounds foreign JSON in an event, in bytes.
const maxData = 96 << 10

// fit returns foreign JSON as it may stand in an event; what is too large, too deep or no JSON becomes a string, cut.
func fit(data []byte) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(data); ok && len(compact) <= maxData && codec.Shallow(compact) {
		return compact
	}
	return protocol.AppendString(nil, string(bytes.ToValidUTF8(data[:min(len(data), maxData/6)], nil)))
}

// clip bounds a text for people.
func clip(s string) string {
	if len(s) <= 4<<10 {
		return s
	}
	return protocol.SplitText(s, 4<<10)[0]
}
