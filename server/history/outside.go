package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// outside returns the events outside of turns between two seqs, exclusive, within most bytes: the
// newest, and whether older ones were left out. It stops at the first event of a turn, and at a
// damaged event.
func (r *Reader) outside(
	ctx context.Context, id string, after, before uint64, most int,
) (events []json.RawMessage, cut bool, err error) {
	events = []json.RawMessage{}
	size := 0
	for line, err := range eventlog.Lines(ctx, r.store, id, after, before-1) {
		if errors.Is(err, eventlog.ErrCorrupt) {
			return events, cut, nil // the turns can still be read
		}
		if err != nil {
			return events, cut, err
		}
		var e struct {
			Type protocol.Type `json:"type"`
			Turn string        `json:"turn"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, false, err
		}
		switch {
		case e.Type == protocol.MessageUser:
			return events, cut, nil
		case protocol.OutsideOfTurns(e.Type, e.Turn):
			events = append(events, slices.Clone(bytes.TrimSuffix(line, []byte("\n"))))
			size += len(line)
		}
		for size > most && len(events) > 1 {
			size -= len(events[0]) + 1
			events, cut = events[1:], true
		}
	}
	return events, cut, nil
}

// lastOf returns the last seq of the newest turn, or 0.
func lastOf(turns []eventlog.TurnRow) uint64 {
	if len(turns) == 0 {
		return 0
	}
	return turns[0].Last
}

// bytesOf returns the size of encoded events, with newlines.
func bytesOf(events []json.RawMessage) int {
	n := 0
	for _, e := range events {
		n += len(e) + 1
	}
	return n
}
