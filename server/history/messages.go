package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// A Message is a user's message of a finished turn, or the agent's side of it, which has the id of the turn.
// A turn has the message that started it, those that joined it, and the agent's.
type Message struct {
	MessageID       string           `json:"message_id"`
	Turn            string           `json:"turn"`
	Role            string           `json:"role"` // user, assistant
	ClientMessageID string           `json:"client_message_id,omitempty"`
	Text            string           `json:"text"`
	Parts           []protocol.Part  `json:"parts,omitempty"` // user only
	Items           []*protocol.Item `json:"items,omitempty"` // assistant only
	By              *protocol.Actor  `json:"by,omitempty"`
	Reason          protocol.Reason  `json:"reason,omitempty"`
	Time            time.Time        `json:"time"`
}

// Bounds of one result. A turn with more than maxTurnsBytes is returned with its first event and
// its end.
const (
	maxTurns      = 500
	maxTurnsBytes = 8 << 20
)

// Messages returns the messages of finished turns, oldest first: the messages after the named one,
// or the newest. It has the same bounds as Turns.
func (r *Reader) Messages(ctx context.Context, name, after string) ([]Message, error) {
	turns, err := r.Turns(ctx, name, after)
	if err != nil {
		return nil, err
	}
	list := []Message{}
	for _, t := range turns {
		list = append(list, messagesOf(t)...)
	}
	if i := slices.IndexFunc(list, func(m Message) bool { return m.MessageID == after }); i >= 0 {
		list = list[i+1:]
	}
	return list, nil
}

// Turns returns finished turns, oldest first, from the turn of the message named to the newest: at
// most 500 turns and about 8 MiB, the newest of them.
func (r *Reader) Turns(ctx context.Context, name, from string) ([]*protocol.Turn, error) {
	id, err := r.sessions.Resolve(name)
	if err != nil {
		return nil, err
	}
	rows, err := r.store.Turns(ctx, id, 0, maxTurns)
	var turns []*protocol.Turn
	size := 0
	for _, row := range rows {
		var turn *protocol.Turn
		var n int
		if turn, n, err = r.readTurn(ctx, id, row); err != nil {
			break
		}
		turns = append(turns, turn)
		if size += n; size >= maxTurnsBytes || from != "" && (from == row.Turn || from == row.MessageID) {
			break
		}
	}
	if err != nil {
		return nil, r.readError(id, err)
	}
	slices.Reverse(turns)
	return turns, nil
}

// readTurn reads a turn, and returns its size in bytes.
func (r *Reader) readTurn(ctx context.Context, id string, row eventlog.TurnRow) (*protocol.Turn, int, error) {
	list, err := r.tail(ctx, id, row.First, row.Last, maxTurnsBytes)
	if err == nil && list.cut { // add the first event: the user's message
		var first eventList
		first, err = r.tail(ctx, id, row.First, row.First, maxTurnsBytes)
		list.prepend(first)
	}
	if err != nil {
		return nil, 0, err
	}
	turn, err := decodeTurn(list.events)
	return turn, list.size, err
}

// decodeTurn reduces the events of one turn.
func decodeTurn(events []json.RawMessage) (*protocol.Turn, error) {
	var tr protocol.Transcript
	for _, line := range events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("decode event: %w", err)
		}
		if _, err := tr.Apply(&e); err != nil {
			return nil, fmt.Errorf("apply event: %w", err)
		}
	}
	if len(tr.Turns) != 1 {
		return nil, fmt.Errorf("events of one turn decode to %d turns", len(tr.Turns))
	}
	return tr.Turns[0], nil
}

// messagesOf returns the users' messages and the agent's message of a turn.
func messagesOf(t *protocol.Turn) []Message {
	answer := Message{
		MessageID: t.Turn, Turn: t.Turn, Role: "assistant", Text: protocol.AnswerText(t.Items), Items: t.Items,
		Time: t.Started,
	}
	if t.End != nil {
		answer.Reason, answer.Time = t.End.Reason, *t.Ended
	}
	list := []Message{userMessage(t, &t.Message, t.Started)}
	for _, it := range t.Items {
		if it.Steered != nil && it.Steered.Outcome != protocol.SteerRefused {
			list = append(list, userMessage(t, &it.Steered.Message, it.Started))
		}
	}
	return append(list, answer)
}

func userMessage(t *protocol.Turn, m *protocol.Message, at time.Time) Message {
	return Message{
		MessageID: m.MessageID, Turn: t.Turn, Role: "user", ClientMessageID: m.ClientMessageID, Text: m.Text,
		Parts: m.Parts, By: m.By, Time: at,
	}
}
