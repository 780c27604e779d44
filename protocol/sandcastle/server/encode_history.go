package server

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// Messages encodes finished turns as the history endpoint does: the user message and the answer of
// each turn. The answer's id is the turn's. after is the last message that the client has; if it is
// empty or unknown, all messages are returned.
func Messages(turns []*protocol.Turn, after string) json.RawMessage {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t *protocol.Turn) bool { return t.End == nil })
	return protocol.MustEncode(historyMessages(turns, "", after))
}

// historyMessages encodes turns. An unfinished turn has only the messages of users: the one that started it,
// then those that joined it.
func historyMessages(turns []*protocol.Turn, session, after string) []wire.ChatMessage {
	list := []wire.ChatMessage{}
	for _, t := range turns {
		for _, m := range t.Messages() {
			list = append(list, userChatMessage(t, &m))
		}
		if t.End != nil {
			list = append(list, answerChatMessage(t, session))
		}
	}
	for i := range list {
		list[i].SessionID = session
	}
	if i := slices.IndexFunc(list, func(m wire.ChatMessage) bool { return m.ID == after }); after != "" && i >= 0 {
		list = list[i+1:]
	}
	return list
}

// containsMessage reports whether events contain a message.
func containsMessage(events []json.RawMessage, message string) bool {
	return message != "" && slices.ContainsFunc(turnsFromEvents(events), func(t *protocol.Turn) bool {
		has := func(m protocol.Message) bool { return m.MessageID == message }
		return t.Turn == message || slices.ContainsFunc(t.Messages(), has)
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

func userChatMessage(t *protocol.Turn, of *protocol.Message) wire.ChatMessage {
	m := wire.ChatMessage{
		ID: of.MessageID, Role: "user", CreatedAt: wire.FormatTime(t.Started),
		ClientMessageID: of.ClientMessageID, TurnID: t.Turn,
		Parts: []wire.MessagePart{},
	}
	var parts []json.RawMessage
	_ = json.Unmarshal(wire.ForeignParts(of), &parts)
	for _, p := range parts {
		m.Parts = append(m.Parts, wire.MessagePart{Whole: p})
	}
	if len(parts) == 0 {
		m.Parts = append(m.Parts, wire.MessagePart{Type: "text", Text: &of.Text})
	}
	return m
}

func answerChatMessage(t *protocol.Turn, session string) wire.ChatMessage {
	metadata := wire.AnswerMetadata{Agentctl: t.End}
	if session != "" {
		metadata.ClaudeSessionID, metadata.Model = session, "agentctl"
		if t.End.Usage != nil && t.End.Usage.Model != "" {
			metadata.Model = t.End.Usage.Model
		}
	}
	m := wire.ChatMessage{
		ID: t.Turn, Role: "assistant", CreatedAt: wire.FormatTime(*t.Ended), TurnID: t.Turn, Parts: []wire.MessagePart{},
		Metadata: protocol.MustEncode(metadata),
	}
	for _, it := range t.Items {
		switch it.Kind {
		case protocol.ItemText, protocol.ItemReasoning:
			text := it.Text.String()
			m.Parts = append(m.Parts, wire.MessagePart{Type: string(it.Kind), Text: &text, State: "done"})
		case protocol.ItemTool:
			m.Parts = append(m.Parts, toolPart(it))
		}
	}
	return m
}

// toolPart encodes a tool call with its result.
func toolPart(it *protocol.Item) wire.MessagePart {
	name := it.Tool.Name
	if name == "" {
		name = it.Tool.Kind
	}
	if name == "" {
		name = "tool"
	}
	p := wire.MessagePart{
		Type: "dynamic-tool", ToolCallID: it.ID, ToolName: name, Title: it.Tool.Title, Input: it.Tool.Input,
		State:            "input-available",
		ParentToolCallID: it.Parent,
	}
	if p.Input == nil {
		p.Input = protocol.AppendString(nil, it.Tool.InputText.String())
	}
	output := tool{text: it.Text, content: it.Tool.Content}
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
