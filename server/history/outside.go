package history

import (
	"context"
	"encoding/json"
	"errors"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// outside returns the newest events outside of turns between two seqs, exclusive, within most bytes.
// It stops at the first event of a turn, and at a damaged event.
func (r *Reader) outside(ctx context.Context, id string, after, before uint64, most int) (eventList, error) {
	list := eventList{events: []json.RawMessage{}}
	for line, err := range eventlog.Lines(ctx, r.store, id, after, before-1) {
		if errors.Is(err, eventlog.ErrCorrupt) {
			return list, nil // the turns can still be read
		}
		if err != nil {
			return list, err
		}
		var e struct {
			Type protocol.Type `json:"type"`
			Turn string        `json:"turn"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return list, err
		}
		switch {
		case e.Type == protocol.MessageUser:
			return list, nil
		case protocol.OutsideOfTurns(e.Type, e.Turn):
			list.add(line)
		}
		for list.size > most && len(list.events) > 1 {
			list.drop()
		}
	}
	return list, nil
}

// lastOf returns the last seq of the newest turn, or 0.
func lastOf(turns []eventlog.TurnRow) uint64 {
	if len(turns) == 0 {
		return 0
	}
	return turns[0].Last
}
