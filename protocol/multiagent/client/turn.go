package client

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
	"agentctl/protocol/multiagent/wire"
)

// A turn is a turn as the client end receives it.
type turn struct {
	id            string
	message       string // the server's message id of the chunks
	part          string // open part; empty: none
	agent         string // of the part
	parts         int
	text          []byte // of the message so far
	hasText       bool   // the message has text
	byOther       bool   // another client started it
	isToolRequest bool   // asks a server other than agentctl's for one tool, and has no stream
	stopped       bool   // a decision of this client stops it
	started       time.Time
}

// startTurn starts the turn of a message.
func (c *Conn) startTurn(s *session, req *request) {
	if s.turn != nil { // another client's turn started in between
		c.endTurn(s, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	}
	s.turn = &turn{
		id: c.Options.ID("t"), started: c.Now,
		isToolRequest: !c.Options.PeerIsAgentctl && wire.IsToolRequest(req.message.Text),
	}
	c.record(s, protocol.MessageUser, req.message.By, protocol.MessageUserData{Message: req.message})
	at := s.log.State.Seq
	c.record(s, protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: req.message.MessageID, Agent: s.agent})
	req.started = &turnStart{turn: s.turn.id, seq: at}
}

// startAnsweredTurn starts the turn of the message just sent when the server sends its output.
// Output before an answer of agentctl's server is of another turn.
func (c *Conn) startAnsweredTurn(s *session) {
	if req := s.findRequest(protocol.DoSend); req != nil && req.key == "" {
		c.startPendingTurn(s)
	}
}

// startPendingTurn starts the turn of the message just sent, if it has not started.
func (c *Conn) startPendingTurn(s *session) {
	req := s.findRequest(protocol.DoSend)
	if req == nil || req.started != nil {
		return
	}
	c.startTurn(s, req)
	if req.arrived && s.removeRequest(req) {
		c.acceptSend(s, req)
	}
}

// ensureTurn starts a turn if none runs: that of the message just sent, or one of another client.
func (c *Conn) ensureTurn(s *session) *turn {
	s.cancelSeen = false
	c.startAnsweredTurn(s)
	if s.turn == nil {
		s.turn = &turn{id: c.Options.ID("t"), byOther: true, started: c.Now}
		m := protocol.Message{MessageID: c.Options.ID("m")}
		c.record(s, protocol.MessageUser, nil, protocol.MessageUserData{Message: m})
		c.record(s, protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: m.MessageID, Agent: s.agent})
	}
	return s.turn
}

// appendText appends text to a message.
func (c *Conn) appendText(s *session, message, agent, text string) {
	t := c.ensureTurn(s)
	if t.part == "" || t.message != message || agent != "" && agent != t.agent {
		c.endPart(s)
		if t.message != message {
			t.text = nil
		}
		t.parts++
		t.part, t.message, t.agent = fmt.Sprintf("p%d", t.parts), message, agent
		c.record(s, protocol.TextStart, nil, protocol.PartStartData{Part: t.part, Agent: agent})
	}
	if text == "" {
		return
	}
	t.hasText = true
	t.text = append(t.text, text[:min(len(text), wire.MaxContent-len(t.text))]...)
	for _, piece := range protocol.SplitText(text, protocol.MaxText) {
		c.record(s, protocol.TextDelta, nil, protocol.PartDeltaData{Part: t.part, Text: piece})
	}
}

// handleComplete handles a complete message. It appends what the chunks omitted.
func (c *Conn) handleComplete(s *session, m wire.Message) {
	t := c.ensureTurn(s)
	message, agent, whole := m.Name("messageId"), m.Name("agentName"), m.Text("content")
	received := ""
	if t.message == message {
		received = string(t.text)
	}
	switch {
	case whole == "" || strings.HasPrefix(received, whole):
	case received == "":
		c.appendText(s, message, agent, whole)
	case strings.HasPrefix(whole, received):
		c.appendText(s, message, t.agent, whole[len(received):])
	default: // the chunks were of its end
		c.endPart(s)
		c.appendText(s, message, agent, whole)
	}
	meta := wire.DecodeMessage(m["metadata"])
	ended := protocol.TurnEndedData{Reason: protocol.ReasonCompleted, DurationMS: meta.Int("durationMs")}
	if n := meta.Int("tokenCount"); n > 0 {
		ended.Usage = &protocol.Usage{Output: n}
	}
	c.endTurn(s, ended)
	c.sendNext(s)
}

func (c *Conn) endPart(s *session) {
	if t := s.turn; t.part != "" {
		c.record(s, protocol.TextEnd, nil, protocol.PartEndData{Part: t.part})
		t.part = ""
	}
}

// endTurn ends the turn and everything open in it.
func (c *Conn) endTurn(s *session, d protocol.TurnEndedData) {
	c.endPart(s)
	for _, a := range slices.Clone(s.log.State.Approvals) {
		c.recordResolution(s, nil, protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled})
	}
	for _, tool := range slices.Sorted(maps.Keys(s.tools)) {
		c.record(s, protocol.ToolEnded, nil, protocol.ToolEndedData{Tool: tool, Status: protocol.ToolUnknown})
	}
	clear(s.tools)
	if d.DurationMS == 0 {
		d.DurationMS = c.Now.Sub(s.turn.started).Milliseconds()
	}
	s.keepEnded()
	c.record(s, protocol.TurnEnded, nil, d)
	s.turn, s.turnDeadline = nil, time.Time{}
}

// endQuietTurn ends a turn after a tool that no message followed.
func (c *Conn) endQuietTurn(s *session) {
	if c.toolRequestDenied(s) {
		c.endDeniedTurn(s, "")
		return
	}
	c.endTurn(s, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	c.sendNext(s)
}

// toolRequestDenied reports whether the turn is a tool request of a server other than agentctl's,
// and its tool was denied. Such a turn has no further messages.
func (c *Conn) toolRequestDenied(s *session) bool {
	t := s.turn
	return !c.Options.PeerIsAgentctl && (t.isToolRequest || t.byOther) && !t.hasText && s.lastRejected() &&
		len(s.log.State.Approvals) == 0
}

func (c *Conn) endDeniedTurn(s *session, why string) {
	c.endTurn(s, protocol.TurnEndedData{Reason: protocol.ReasonDenied, Message: why})
	c.sendNext(s)
}

// sendNext sends the first queued message if nothing blocks it.
func (c *Conn) sendNext(s *session) {
	if s.turn != nil || s.findRequest(protocol.DoSend) != nil {
		return
	}
	if m := s.log.State.NextQueued(); m != nil {
		next := *m
		c.record(s, protocol.QueueRemoved, nil, protocol.QueueRemovedData{
			MessageID: next.MessageID, Reason: protocol.RemovedStarted,
		})
		req := &request{message: next}
		c.sendMessage(s, req)
		if req.key == "" {
			c.startTurn(s, req)
		}
	}
}

// handleThought records a thought as reasoning.
func (c *Conn) handleThought(s *session, m wire.Message) {
	why := m.Text("reason")
	if m.Name("agentId") == wire.QueueAgent {
		c.record(s, protocol.Notice, nil, protocol.NoticeData{Level: protocol.LevelInfo, Message: clipText(why)})
		return
	}
	t := c.ensureTurn(s)
	t.parts++
	part := fmt.Sprintf("p%d", t.parts)
	c.record(s, protocol.ReasoningStart, nil, protocol.PartStartData{Part: part, Agent: m.Name("agentName")})
	for _, piece := range protocol.SplitText(why, protocol.MaxText) {
		c.record(s, protocol.ReasoningDelta, nil, protocol.PartDeltaData{Part: part, Text: piece})
	}
	c.record(s, protocol.ReasoningEnd, nil, protocol.PartEndData{Part: part})
}

// recordRaw records a message without a native equivalent.
func (c *Conn) recordRaw(s *session, kind string, data []byte) {
	if s != nil {
		c.record(s, protocol.Raw, nil, protocol.RawData{Source: wire.Name, Method: kind, Data: fitJSON(data)})
	}
}

// maxData bounds foreign JSON in an event, in bytes.
const maxData = 96 << 10

// fitJSON returns foreign JSON that fits an event. JSON that is too large, too deep or invalid
// becomes a truncated string.
func fitJSON(data []byte) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	if compact, ok := protocol.Compact(data); ok && len(compact) <= maxData && codec.Shallow(compact) {
		return compact
	}
	return protocol.AppendString(nil, string(bytes.ToValidUTF8(data[:min(len(data), maxData/6)], nil)))
}

// clipText bounds a display text.
func clipText(s string) string {
	if len(s) <= 4<<10 {
		return s
	}
	return protocol.SplitText(s, 4<<10)[0]
}
