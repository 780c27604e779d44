package sandcastle

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// decodeHistory decodes the messages of finished turns, from a list or an object with one. ok is
// false for other JSON. A malformed message is skipped.
func decodeHistory(raw json.RawMessage) (messages []chatMessage, ok bool) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		var object struct {
			Messages []json.RawMessage `json:"messages"`
		}
		_ = json.Unmarshal(raw, &object)
		list = object.Messages
	}
	for _, one := range list {
		var m chatMessage
		if json.Unmarshal(one, &m) == nil && m.ID != "" {
			messages = append(messages, m)
		}
	}
	return messages, list != nil
}

// UnmarshalJSON decodes a part and keeps its JSON.
func (p *messagePart) UnmarshalJSON(raw []byte) error {
	type plain messagePart
	if err := json.Unmarshal(raw, (*plain)(p)); err != nil {
		*p = messagePart{}
	}
	p.whole = slices.Clone(raw)
	return nil
}

// recordHistory records finished turns, up to the last message that the state counts.
func (c *client) recordHistory(s *session, messages []chatMessage, last *string) {
	if last == nil {
		return
	}
	end := slices.IndexFunc(messages, func(m chatMessage) bool { return m.ID == *last })
	messages = messages[:end+1]
	for len(messages) > 0 {
		question := &chatMessage{ID: messages[0].ID}
		if messages[0].Role == "user" {
			question, messages = &messages[0], messages[1:]
		}
		n := slices.IndexFunc(messages, func(m chatMessage) bool { return m.Role == "user" })
		if n < 0 {
			n = len(messages)
		}
		c.recordTurn(s, question, messages[:n])
		messages = messages[n:]
	}
}

// storedMessages returns the users' messages of a history, except that of the current turn.
func storedMessages(messages []chatMessage, current *turnContext) (stored []storedMessage) {
	for i := range messages {
		m := &messages[i]
		if m.Role == "user" && m.ClientMessageID == "" && (current == nil || m.ID != current.MessageID) {
			stored = append(stored, storedMessage{id: m.ID, text: m.text()})
		}
	}
	return stored
}

// text returns the text of a user's message.
func (m *chatMessage) text() string {
	var text strings.Builder
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Type == "text" && p.Text != nil && p.Filename == "" {
			text.WriteString(*p.Text)
		}
	}
	return text.String()
}

// recordTurn records a finished turn under the id of its last answer. The real system stores each
// answer of the model as a message.
func (c *client) recordTurn(s *session, question *chatMessage, answers []chatMessage) {
	answer := &chatMessage{ID: question.ID, CreatedAt: question.CreatedAt}
	if n := len(answers); n > 0 {
		answer = &answers[n-1]
	}
	text := question.text()
	parts := []json.RawMessage{}
	for _, p := range question.Parts {
		parts = append(parts, p.whole)
	}
	m := protocol.Message{
		MessageID: question.ID, ClientMessageID: question.ClientMessageID, Text: text,
		Parts: nativeParts(text, protocol.MustEncode(parts)),
	}
	at, ended := parseTime(question.CreatedAt), parseTime(answer.CreatedAt)
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
	s.turn = &clientTurn{id: answer.ID, tools: map[string]*clientTool{}}
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
	if native := turnEndOf(answer.Metadata); native != nil {
		end = *native
	}
	c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: answer.ID, Time: ended, Data: end})
}

// recordPart records a part of an answer.
func (c *client) recordPart(s *session, p *messagePart, n int) {
	id := "part" + string(protocol.MustEncode(n))
	switch {
	case (p.Type == "text" || p.Type == "reasoning") && p.Text != nil:
		for _, e := range []chatEvent{
			{Type: p.Type + "-start", ID: id},
			{Type: p.Type + "-delta", ID: id, Delta: p.Text},
			{Type: p.Type + "-end", ID: id},
		} {
			c.recordTextEvent(s, &e)
		}
	case p.ToolCallID != "":
		c.handleTool(s, &chatEvent{
			Type: chatToolInput, ToolCallID: p.ToolCallID, ToolName: p.toolName(), Title: p.Title, Input: p.Input,
			ParentToolCallID: p.ParentToolCallID,
		}, p.whole)
		switch p.State {
		case "output-available":
			c.handleTool(s, &chatEvent{
				Type: chatToolOutput, ToolCallID: p.ToolCallID, Output: p.Output, Approval: p.Approval,
			}, p.whole)
		case "output-error":
			c.handleTool(s, &chatEvent{
				Type: chatToolOutputError, ToolCallID: p.ToolCallID, ErrorText: &p.ErrorText,
			}, p.whole)
		case "output-denied":
			c.handleTool(s, &chatEvent{Type: chatToolDenied, ToolCallID: p.ToolCallID}, p.whole)
		}
	default:
		c.recordRaw(s, s.turn.id, codec.Excerpt(p.Type), p.whole)
	}
}

// toolName returns the tool's name, from its field or from the type after "tool-".
func (p *messagePart) toolName() string {
	if p.ToolName == "" && len(p.Type) > len("tool-") && p.Type[:len("tool-")] == "tool-" {
		return p.Type[len("tool-"):]
	}
	return p.ToolName
}
