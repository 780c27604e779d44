package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"agentctl/protocol"
)

// readBytes bounds the bytes of events that an iterator reads from the store in one call.
const readBytes = 256 << 10

// Lines returns the stored lines of the events of a session with after < seq <= through, oldest
// first, with their newlines. Runs of deltas that lie in that range are folded. A line is valid until
// the next one. An error, which is the store's, ends the sequence; so does the end of the log. No
// read is open between two lines.
func Lines(ctx context.Context, store Reader, id string, after, through uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var buf []byte
		for after := after; after < through; {
			lines, last, err := store.Read(ctx, id, after, through, true, readBytes, buf[:0])
			if err != nil {
				yield(nil, err)
				return
			}
			if last == after {
				return
			}
			for line := range bytes.Lines(lines) {
				if !yield(line, nil) {
					return
				}
			}
			after, buf = last, lines
		}
	}
}

// Events returns the events of Lines. An event is the caller's.
func Events(ctx context.Context, store Reader, id string, after, through uint64) iter.Seq2[*protocol.Event, error] {
	return func(yield func(*protocol.Event, error) bool) {
		for line, err := range Lines(ctx, store, id, after, through) {
			e := new(protocol.Event)
			if err == nil {
				if err = json.Unmarshal(line, e); err != nil {
					err = fmt.Errorf("decode event: %w", err)
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}
