package client

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// recordHistory records finished turns, up to the last message that the state counts.
func (c *Conn) recordHistory(s *session, messages []wire.ChatMessage, last *string) {
	if last == nil {
		return
	}
	end := slices.IndexFunc(messages, func(m wire.ChatMessage) bool { return m.ID == *last })
	messages = messages[:end+1]
	for len(messages) > 0 {
		question := &wire.ChatMessage{ID: messages[0].ID}
		if messages[0].Role == "user" {
			question, messages = &messages[0], messages[1:]
		}
		n := slices.IndexFunc(messages, func(m wire.ChatMessage) bool { return m.Role == "user" })
		if n < 0 {
			n = len(messages)
		}
		c.recordTurn(s, question, messages[:n])
		messages = messages[n:]
	}
}

// storedMessages returns the users' messages of a history, except that of the current turn.
func storedMessages(messages []wire.ChatMessage, current *wire.TurnContext) (stored []storedMessage) {
	for i := range messages {
		m := &messages[i]
		if m.Role == "user" && m.ClientMessageID == "" && (current == nil || m.ID != current.MessageID) {
			stored = append(stored, storedMessage{id: m.ID, text: m.Text()})
		}
	}
	return stored
}

// recordTurn records a finished turn under the id of its last answer. The real system stores each
// answer of the model as a message.
func (c *Conn) recordTurn(s *session, question *wire.ChatMessage, answers []wire.ChatMessage) {
	answer := &wire.ChatMessage{ID: question.ID, CreatedAt: question.CreatedAt}
	if n := len(answers); n > 0 {
		answer = &answers[n-1]
	}
	text := question.Text()
	parts := []json.RawMessage{}
	for _, p := range question.Parts {
		parts = append(parts, p.Whole)
	}
	m := protocol.Message{
		MessageID: question.ID, ClientMessageID: question.ClientMessageID, Text: text,
		Parts: wire.NativeParts(text, protocol.MustEncode(parts)),
	}
	at, ended := wire.ParseTime(question.CreatedAt), wire.ParseTime(answer.CreatedAt)
	defer func(now time.Time) { c.Now = now }(c.Now)
	if !at.IsZero() {
		c.Now = at // record with the original time
	}
	c.record(s, codec.Entry{
		Type: protocol.MessageUser, Turn: answer.ID, Time: at, Data: protocol.MessageUserData{Message: m},
	})
	s.recordStartedSend()
	c.record(s, codec.Entry{
		Type: protocol.TurnStarted, Turn: answer.ID, Time: at, Data: protocol.TurnStartedData{MessageID: m.MessageID},
	})
	s.turn = &turn{id: answer.ID, tools: map[string]*tool{}}
	n := 0
	for i := range answers {
		for j := range answers[i].Parts {
			c.recordPart(s, &answers[i].Parts[j], n)
			n++
		}
	}
	s.turn = nil
	end := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	if !at.IsZero() && ended.After(at) {
		end.DurationMS = ended.Sub(at).Milliseconds()
	}
	if native := wire.TurnEndOf(answer.Metadata); native != nil {
		end = *native
	}
	c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: answer.ID, Time: ended, Data: end})
}

// recordPart records a part of an answer.
func (c *Conn) recordPart(s *session, p *wire.MessagePart, n int) {
	id := "part" + string(protocol.MustEncode(n))
	switch {
	case (p.Type == "text" || p.Type == "reasoning") && p.Text != nil:
		for _, e := range []wire.ChatEvent{
			{Type: p.Type + "-start", ID: id},
			{Type: p.Type + "-delta", ID: id, Delta: p.Text},
			{Type: p.Type + "-end", ID: id},
		} {
			c.recordTextEvent(s, &e)
		}
	case p.ToolCallID != "":
		c.handleTool(s, &wire.ChatEvent{
			Type: wire.ChatToolInput, ToolCallID: p.ToolCallID, ToolName: p.Tool(), Title: p.Title, Input: p.Input,
			ParentToolCallID: p.ParentToolCallID,
		}, p.Whole)
		switch p.State {
		case "output-available":
			c.handleTool(s, &wire.ChatEvent{
				Type: wire.ChatToolOutput, ToolCallID: p.ToolCallID, Output: p.Output, Approval: p.Approval,
			}, p.Whole)
		case "output-error":
			c.handleTool(s, &wire.ChatEvent{
				Type: wire.ChatToolOutputError, ToolCallID: p.ToolCallID, ErrorText: &p.ErrorText,
			}, p.Whole)
		case "output-denied":
			c.handleTool(s, &wire.ChatEvent{Type: wire.ChatToolDenied, ToolCallID: p.ToolCallID}, p.Whole)
		}
	default:
		c.recordRaw(s, s.turn.id, codec.Excerpt(p.Type), p.Whole)
	}
}
