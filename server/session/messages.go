package session

import (
	"context"
	"encoding/json"
	"fmt"
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

// Messages returns the messages of finished turns, oldest first: those after the message named, or the newest; see Finished.
func (h *Hub) Messages(ctx context.Context, name, after string) ([]HistoryMessage, error) {
	turns, err := h.Finished(ctx, name, after)
	if err != nil {
		return nil, err
	}
	list := []HistoryMessage{}
	for _, t := range turns {
		list = append(list, messagesOf(t)...)
	}
	if i := slices.IndexFunc(list, func(m HistoryMessage) bool { return m.MessageID == after }); i >= 0 {
		list = list[i+1:]
	}
	return list, nil
}

// Finished returns finished turns, oldest first, from the one that has the message named on, or the newest: at most 500 turns
// and about 8 MiB.
func (h *Hub) Finished(ctx context.Context, name, from string) ([]*protocol.Turn, error) {
	id, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	rows, err := h.cfg.Store.Turns(ctx, id, 0, messagesMost)
	if err != nil {
		return nil, h.unreadable(id, err)
	}
	var turns []*protocol.Turn
	size := 0
	for _, row := range rows {
		events, cut, n, err := h.tailOf(ctx, id, row.First, row.Last, messageBytes)
		if err != nil {
			return nil, h.unreadable(id, err)
		}
		if cut { // the user's message is the first event
			first, _, _, err := h.tailOf(ctx, id, row.First, row.First, messageBytes)
			if err != nil {
				return nil, h.unreadable(id, err)
			}
			events = append(first, events...)
		}
		turn, err := turnOf(events)
		if err != nil {
			return nil, h.unreadable(id, err)
		}
		turns = append(turns, turn)
		if size += n; size >= messageBytes || from != "" && (from == row.Turn || from == row.MessageID) {
			break
		}
	}
	slices.Reverse(turns)
	return turns, nil
}

// turnOf folds the events of one turn.
func turnOf(events []json.RawMessage) (*protocol.Turn, error) {
	var tr protocol.Transcript
	for _, line := range events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("decode event: %w", err)
		}
		if _, err := tr.Apply(&e); err != nil {
			return nil, fmt.Errorf("fold event: %w", err)
		}
	}
	if len(tr.Turns) != 1 {
		return nil, fmt.Errorf("%d turns in the events of one", len(tr.Turns))
	}
	return tr.Turns[0], nil
}

// messagesOf returns the two messages of a turn.
func messagesOf(t *protocol.Turn) []HistoryMessage {
	m := t.Message
	answer := HistoryMessage{MessageID: t.Turn, Turn: t.Turn, Role: "assistant", Items: t.Items, Time: t.Started}
	for _, it := range t.Items {
		if it.Kind == protocol.ItemText {
			answer.Text += string(it.Text)
		}
	}
	if t.End != nil {
		answer.Reason, answer.Time = t.End.Reason, *t.Ended
	}
	return []HistoryMessage{{
		MessageID: m.MessageID, Turn: t.Turn, Role: "user", ClientMessageID: m.ClientMessageID, Text: m.Text, Parts: m.Parts,
		By: m.By, Time: t.Started,
	}, answer}
}
