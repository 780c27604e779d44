package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// An occurrence is an event that has a notification.
type occurrence struct {
	typ     string
	session string
	seq     uint64
	time    time.Time
}

// readBytes bounds the bytes of events read in one call.
const readBytes = 256 << 10

// A reader reads the logs of sessions. Only its runner calls read; an attempt calls the rest.
type reader struct {
	sessions Sessions
	store    Store
	filter   *Filter
	buf      []byte // of read
}

// read returns the occurrences after a seq, and the seq up to which it looked; after: at the end.
func (r *reader) read(ctx context.Context, session string, after uint64) (found []occurrence, last uint64, err error) {
	sum, ok := r.sessions.Summary(session)
	if !ok || !r.filter.matches(&sum) {
		return nil, max(after, sum.Seq), nil
	}
	lines, last, err := r.store.Read(ctx, session, after, math.MaxInt64, true, readBytes, r.buf[:0])
	if err != nil || len(lines) == 0 {
		return nil, after, err
	}
	r.buf = lines
	for line := range bytes.Lines(lines) {
		if !mayMatch(line) {
			continue
		}
		var e protocol.Event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if sum.SubAgent && e.Type != protocol.TurnEnded { // its requests are those of its root
			continue
		}
		typ := r.filter.typeOf(&e)
		if typ == "" || e.Time.Before(sum.Created) { // the past of a restored session
			continue
		}
		found = append(found, occurrence{typ, session, e.Seq, e.Time})
	}
	return found, last, nil
}

func (r *reader) event(ctx context.Context, o *occurrence) (*protocol.Event, error) {
	lines, _, err := r.store.Read(ctx, o.session, o.seq-1, o.seq, false, 1, nil)
	if err != nil {
		return nil, err
	}
	e := new(protocol.Event)
	return e, json.Unmarshal(lines, e)
}

// text returns the last text that the agent wrote in the turn that ends with a seq.
func (r *reader) text(ctx context.Context, session, turn string, seq uint64) (t turnText, err error) {
	rows, err := r.store.Turns(ctx, session, seq, 1) // the newest
	if err != nil || len(rows) == 0 || rows[0].Turn != turn {
		return t, err
	}
	for line, err := range eventlog.Lines(ctx, r.store, session, rows[0].First-1, seq) {
		if err != nil {
			return t, err
		}
		t.apply(line)
	}
	return t, nil
}
