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
func (s *session) recordHistory(messages []wire.ChatMessage, last *string) {
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
		joined := messages[:prefix(messages, func(m *wire.ChatMessage) bool {
			return m.Role == "user" && m.TurnID != "" && m.TurnID == question.TurnID
		})]
		messages = messages[len(joined):]
		n := prefix(messages, func(m *wire.ChatMessage) bool { return m.Role != "user" })
		s.recordTurn(question, joined, messages[:n])
		messages = messages[n:]
	}
}

// prefix returns the number of messages before the first one that does not match.
func prefix(messages []wire.ChatMessage, matches func(*wire.ChatMessage) bool) (n int) {
	for n < len(messages) && matches(&messages[n]) {
		n++
	}
	return n
}

// storedMessages returns the users' messages of a history, except for the current turn's.
func storedMessages(messages []wire.ChatMessage, current *wire.TurnContext) (stored []storedMessage) {
	for i := range messages {
		m := &messages[i]
		if m.Role == "user" && m.ClientMessageID == "" && (current == nil || m.ID != current.MessageID) {
			stored = append(stored, storedMessage{id: m.ID, text: m.Text()})
		}
	}
	return stored
}

// message returns the native message of a user's message in the history.
func message(from *wire.ChatMessage) protocol.Message {
	text := from.Text()
	parts := []json.RawMessage{}
	for _, p := range from.Parts {
		parts = append(parts, p.Whole)
	}
	return protocol.Message{
		MessageID: from.ID, ClientMessageID: from.ClientMessageID, Text: text,
		Parts: wire.NativeParts(text, protocol.MustEncode(parts)),
	}
}

// recordTurn records a finished turn under the id of its last answer. The real system stores each
// answer of the model as a message. joined are the messages that joined the turn at agentctl's server.
func (s *session) recordTurn(question *wire.ChatMessage, joined, answers []wire.ChatMessage) {
	answer := &wire.ChatMessage{ID: question.ID, CreatedAt: question.CreatedAt}
	if n := len(answers); n > 0 {
		answer = &answers[n-1]
	}
	m := message(question)
	at, ended := wire.ParseTime(question.CreatedAt), wire.ParseTime(answer.CreatedAt)
	defer func(now time.Time) { s.x.Now = now }(s.x.Now)
	if !at.IsZero() {
		s.x.Now = at // record with the original time
	}
	t := newTurn(answer.ID, s.x.Options.PeerIsAgentctl, &s.decisions)
	asked, started := t.event(protocol.MessageUser, protocol.MessageUserData{Message: m}),
		t.event(protocol.TurnStarted, protocol.TurnStartedData{MessageID: m.MessageID})
	asked.Time, started.Time = at, at
	s.record(asked)
	s.sends.noteStarted(s.log.State)
	s.record(started)
	for i := range joined {
		m := message(&joined[i])
		s.record(t.event(protocol.MessageSteered, protocol.MessageSteeredData{Message: m}),
			t.event(protocol.MessageResolved, protocol.MessageResolvedData{
				MessageID: m.MessageID, Outcome: protocol.SteerTakenIn,
			}))
	}
	n := 0
	for i := range answers {
		for j := range answers[i].Parts {
			s.record(t.decodePart(s.log.State, &answers[i].Parts[j], n)...)
			n++
		}
	}
	end := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	if !at.IsZero() && ended.After(at) {
		end.DurationMS = ended.Sub(at).Milliseconds()
	}
	if native := wire.TurnEndOf(answer.Metadata); native != nil {
		end = *native
	}
	s.record(codec.Entry{Type: protocol.TurnEnded, Turn: t.id, Time: ended, Data: end})
}

// decodePart decodes the part of an answer with an index.
func (t *turn) decodePart(st *protocol.State, p *wire.MessagePart, n int) (events []codec.Entry) {
	id := "part" + string(protocol.MustEncode(n))
	switch {
	case (p.Type == "text" || p.Type == "reasoning") && p.Text != nil:
		for _, e := range []wire.ChatEvent{
			{Type: p.Type + "-start", ID: id},
			{Type: p.Type + "-delta", ID: id, Delta: p.Text},
			{Type: p.Type + "-end", ID: id},
		} {
			events = append(events, t.decodeText(&e)...)
		}
		return events
	case p.ToolCallID == "":
		return t.raw(p.Type, p.Whole)
	}
	events = t.decodeTool(st, &wire.ChatEvent{
		Type: wire.ChatToolInput, ToolCallID: p.ToolCallID, ToolName: p.Tool(), Title: p.Title, Input: p.Input,
		ParentToolCallID: p.ParentToolCallID,
	}, p.Whole)
	end := wire.ChatEvent{ToolCallID: p.ToolCallID}
	switch p.State {
	case "output-available":
		end.Type, end.Output, end.Approval = wire.ChatToolOutput, p.Output, p.Approval
	case "output-error":
		end.Type, end.ErrorText = wire.ChatToolOutputError, &p.ErrorText
	case "output-denied":
		end.Type = wire.ChatToolDenied
	default:
		return events
	}
	return append(events, t.decodeTool(st, &end, p.Whole)...)
}
