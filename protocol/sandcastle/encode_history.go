package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// A chatMessage is a message of a finished turn, as the history endpoint and chat.getHistory return
// it.
type chatMessage struct {
	ID              string        `json:"id"`
	SessionID       string        `json:"sessionId,omitempty"` // not at the endpoint
	Role            string        `json:"role"`                // user or assistant
	Parts           []messagePart `json:"parts"`
	CreatedAt       string        `json:"createdAt"`
	ClientMessageID string        `json:"clientMessageId,omitempty"`
	TurnID          string        `json:"turnId"`

	Metadata json.RawMessage `json:"metadata,omitempty"` // of an answer
}

// An answerMetadata carries how an answer's turn ended. The protocol itself distinguishes fewer
// reasons.
type answerMetadata struct {
	Agentctl        *protocol.TurnEndedData `json:"agentctl,omitempty"`
	ClaudeSessionID string                  `json:"claudeSessionId,omitempty"`
	Model           string                  `json:"model,omitempty"`
}

// turnEndOf decodes the turn's end from the metadata of an answer; nil if it is missing.
func turnEndOf(metadata json.RawMessage) *protocol.TurnEndedData {
	var m answerMetadata
	if json.Unmarshal(metadata, &m) != nil {
		return nil
	}
	return m.Agentctl
}

// A messagePart is text, reasoning, a tool call, or a part of a user message.
type messagePart struct {
	Type             string          `json:"type"`
	Text             *string         `json:"text,omitempty"`
	Filename         string          `json:"filename,omitempty"` // of a file sent as text
	State            string          `json:"state,omitempty"`
	ToolCallID       string          `json:"toolCallId,omitempty"`
	ToolName         string          `json:"toolName,omitempty"`
	Title            string          `json:"title,omitempty"`
	Input            json.RawMessage `json:"input,omitempty"`
	Output           json.RawMessage `json:"output,omitempty"`
	ErrorText        string          `json:"errorText,omitempty"`
	Approval         *toolApproval   `json:"approval,omitempty"`
	ParentToolCallID string          `json:"parentToolCallId,omitempty"`

	whole json.RawMessage // written in place of the fields
}

// MarshalJSON writes a user's part unchanged.
func (p messagePart) MarshalJSON() ([]byte, error) {
	if p.whole != nil {
		return p.whole, nil
	}
	type plain messagePart
	return protocol.Encode(plain(p))
}

// Messages encodes finished turns as the history endpoint does: the user message and the answer of
// each turn. The answer's id is the turn's. after is the last message that the client has; if it is
// empty or unknown, all messages are returned.
func Messages(turns []*protocol.Turn, after string) json.RawMessage {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t *protocol.Turn) bool { return t.End == nil })
	return protocol.MustEncode(historyMessages(turns, "", after))
}

// A historyResult is the result of a history request.
type historyResult struct {
	Messages []chatMessage `json:"messages"`
}

// historyMessages encodes turns. One that is not finished has the user's message alone.
func historyMessages(turns []*protocol.Turn, session, after string) []chatMessage {
	list := []chatMessage{}
	for _, t := range turns {
		list = append(list, userChatMessage(t))
		if t.End != nil {
			list = append(list, answerChatMessage(t, session))
		}
	}
	for i := range list {
		list[i].SessionID = session
	}
	if i := slices.IndexFunc(list, func(m chatMessage) bool { return m.ID == after }); after != "" && i >= 0 {
		list = list[i+1:]
	}
	return list
}

// containsMessage reports whether events contain a message.
func containsMessage(events []json.RawMessage, message string) bool {
	return message != "" && slices.ContainsFunc(turnsFromEvents(events), func(t *protocol.Turn) bool {
		return t.Turn == message || t.Message.MessageID == message
	})
}

// turnsFromEvents reduces the events of a history.
func turnsFromEvents(events []json.RawMessage) []*protocol.Turn {
	var tr protocol.Transcript
	for _, line := range events {
		var e protocol.Event
		if json.Unmarshal(line, &e) == nil {
			_, _ = tr.Apply(&e) // of agentctl's server
		}
	}
	return tr.Turns
}

func userChatMessage(t *protocol.Turn) chatMessage {
	m := chatMessage{
		ID: t.Message.MessageID, Role: "user", CreatedAt: formatTime(t.Started),
		ClientMessageID: t.Message.ClientMessageID, TurnID: t.Turn,
		Parts: []messagePart{},
	}
	var parts []json.RawMessage
	_ = json.Unmarshal(foreignParts(&t.Message), &parts)
	for _, p := range parts {
		m.Parts = append(m.Parts, messagePart{whole: p})
	}
	if len(parts) == 0 {
		m.Parts = append(m.Parts, messagePart{Type: "text", Text: &t.Message.Text})
	}
	return m
}

func answerChatMessage(t *protocol.Turn, session string) chatMessage {
	metadata := answerMetadata{Agentctl: t.End}
	if session != "" {
		metadata.ClaudeSessionID, metadata.Model = session, "agentctl"
		if t.End.Usage != nil && t.End.Usage.Model != "" {
			metadata.Model = t.End.Usage.Model
		}
	}
	m := chatMessage{
		ID: t.Turn, Role: "assistant", CreatedAt: formatTime(*t.Ended), TurnID: t.Turn, Parts: []messagePart{},
		Metadata: protocol.MustEncode(metadata),
	}
	for _, it := range t.Items {
		switch it.Kind {
		case protocol.ItemText, protocol.ItemReasoning:
			text := it.Text.String()
			m.Parts = append(m.Parts, messagePart{Type: string(it.Kind), Text: &text, State: "done"})
		case protocol.ItemTool:
			m.Parts = append(m.Parts, toolPart(it))
		}
	}
	return m
}

// toolPart encodes a tool call with its result.
func toolPart(it *protocol.Item) messagePart {
	name := it.Tool.Name
	if name == "" {
		name = it.Tool.Kind
	}
	if name == "" {
		name = "tool"
	}
	p := messagePart{
		Type: "dynamic-tool", ToolCallID: it.ID, ToolName: name, Title: it.Tool.Title, Input: it.Tool.Input,
		State:            "input-available",
		ParentToolCallID: it.Parent,
	}
	if p.Input == nil {
		p.Input = protocol.AppendString(nil, it.Tool.InputText.String())
	}
	output := serverTool{text: it.Text, content: it.Tool.Content}
	switch end := it.Tool.End; {
	case end == nil:
	case end.Status == protocol.ToolCompleted:
		p.State, p.Output = "output-available", end.Output
		if p.Output == nil {
			p.Output = output.outputValue()
		}
	case end.Status == protocol.ToolDenied:
		p.State = "output-denied"
	default:
		p.State, p.ErrorText = "output-error", end.Error
		if p.ErrorText == "" {
			p.ErrorText = string(end.Status)
		}
	}
	return p
}
