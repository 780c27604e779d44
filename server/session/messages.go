package session

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// A HistoryMessage is one side of a finished turn. A turn's answer has the turn's id.
type HistoryMessage struct {
	MessageID       string           `json:"message_id"`
	Turn            string           `json:"turn"`
	Role            string           `json:"role"` // user, assistant
	ClientMessageID string           `json:"client_message_id,omitempty"`
	Text            string           `json:"text"`
	Parts           []protocol.Part  `json:"parts,omitempty"` // of a user's message
	Items           []*protocol.Item `json:"items,omitempty"` // of an answer
	By              *protocol.Actor  `json:"by,omitempty"`
	Reason          protocol.Reason  `json:"reason,omitempty"`
	Time            time.Time        `json:"time"`
}

// What bounds one answer: turns, and bytes of events. Of a turn that has more bytes the answer keeps its end.
const (
	messagesMost = 500
	messageBytes = 8 << 20
)

// Messages returns the messages of finished turns, oldest first: those after the message named, or the newest, at most 500
// turns and about 8 MiB.
func (h *Hub) Messages(ctx context.Context, name, after string) ([]HistoryMessage, error) {
	id, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	turns, err := h.cfg.Store.Turns(ctx, id, 0, messagesMost)
	if err != nil {
		return nil, h.unreadable(id, err)
	}
	list := []HistoryMessage{}
	size := 0
	for _, t := range turns {
		if after == t.Turn {
			break
		}
		events, cut, n, err := h.tailOf(ctx, id, t.First, t.Last, messageBytes)
		if err != nil {
			return nil, h.unreadable(id, err)
		}
		if cut { // the user's message is the first event
			first, _, _, err := h.tailOf(ctx, id, t.First, t.First, messageBytes)
			if err != nil {
				return nil, h.unreadable(id, err)
			}
			events = append(first, events...)
		}
		pair, err := messagesOf(events)
		if err != nil {
			return nil, h.unreadable(id, err)
		}
		if i := slices.IndexFunc(pair, func(m HistoryMessage) bool { return m.MessageID == after }); i >= 0 {
			list = append(pair[i+1:], list...)
			break
		}
		list = append(pair, list...)
		if size += n; size >= messageBytes {
			break
		}
	}
	return list, nil
}

// messagesOf folds the events of one turn into its two messages.
func messagesOf(events []json.RawMessage) ([]HistoryMessage, error) {
	var tr protocol.Transcript
	for _, line := range events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, err
		}
		if _, err := tr.Apply(&e); err != nil {
			return nil, err
		}
	}
	var list []HistoryMessage
	for _, t := range tr.Turns {
		m := t.Message
		list = append(list, HistoryMessage{
			MessageID: m.MessageID, Turn: t.Turn, Role: "user", ClientMessageID: m.ClientMessageID, Text: m.Text, Parts: m.Parts,
			By: m.By, Time: t.Started,
		})
		answer := HistoryMessage{MessageID: t.Turn, Turn: t.Turn, Role: "assistant", Items: t.Items, Time: t.Started}
		for _, it := range t.Items {
			if it.Kind == protocol.ItemText {
				answer.Text += string(it.Text)
			}
		}
		if t.End != nil {
			answer.Reason, answer.Time = t.End.Reason, *t.Ended
		}
		list = append(list, answer)
	}
	return list, nil
}
