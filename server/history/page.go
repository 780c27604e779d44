package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	pageTurns    = 20 // by default
	maxPageTurns = 100
	tailSpan     = 512 // events of a long turn that are read first, from its end
)

// An eventList holds the newest encoded events of a range, oldest first.
type eventList struct {
	events []json.RawMessage
	size   int  // bytes, with newlines
	cut    bool // older events of the range were left out
}

func (l *eventList) add(line []byte) {
	l.events = append(l.events, slices.Clone(bytes.TrimSuffix(line, []byte("\n"))))
	l.size += len(line)
}

// drop leaves out the oldest event.
func (l *eventList) drop() {
	l.size -= len(l.events[0]) + 1
	l.events, l.cut = l.events[1:], true
}

// prepend adds the events before those of the list.
func (l *eventList) prepend(older eventList) {
	l.events, l.size, l.cut = append(older.events, l.events...), l.size+older.size, older.cut
}

// Page returns finished turns before a seq and the notices around them, oldest first: at most
// d.Limit turns and about d.Bytes. Turns are complete, except that a single turn larger than a page
// is returned from its end and continued by the next page.
func (r *Reader) Page(ctx context.Context, name string, d *protocol.HistoryData) (*protocol.HistoryResult, error) {
	id, err := r.sessions.Resolve(name)
	if err != nil {
		return nil, err
	}
	page, err := r.page(ctx, id, d)
	if err != nil {
		return nil, r.readError(id, err)
	}
	return page, nil
}

func (r *Reader) page(ctx context.Context, id string, d *protocol.HistoryData) (*protocol.HistoryResult, error) {
	limit := pageTurns
	if d.Limit > 0 {
		limit = min(d.Limit, maxPageTurns)
	}
	most := protocol.MaxHistory
	if d.Bytes > 0 {
		most = int(min(d.Bytes, protocol.MaxHistory))
	}
	rec, err := r.store.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	turns, err := r.store.Turns(ctx, id, d.Before, limit+1)
	if err != nil {
		return nil, err
	}
	end := rec.Head + 1
	if d.Before != 0 {
		end = min(end, d.Before)
	}
	list, err := r.outside(ctx, id, lastOf(turns), end, most)
	if err != nil {
		return nil, err
	}
	for i, t := range turns {
		if list.cut {
			break
		}
		if i == limit || list.size >= most {
			list.cut = true
			break
		}
		turn, err := r.tail(ctx, id, t.First, min(t.Last, end-1), most-list.size)
		if err != nil {
			return nil, err
		}
		if i > 0 && turn.cut {
			list.cut = true
			break
		}
		if list.prepend(turn); list.cut {
			break
		}
		notices, err := r.outside(ctx, id, lastOf(turns[i+1:]), t.First, max(most-list.size, 0))
		if err != nil {
			return nil, err
		}
		list.prepend(notices)
	}
	page := &protocol.HistoryResult{Epoch: rec.Epoch, Events: list.events, More: list.cut}
	if n := len(page.Events); n > 0 {
		page.First, _ = seqRange(page.Events[0])
		_, page.Last = seqRange(page.Events[n-1])
	}
	return page, nil
}

// tail reads the folded events first to last and returns the newest of them, back to the one with
// which they reach most bytes. It reads from the end, in ranges that begin at a fold.
func (r *Reader) tail(ctx context.Context, id string, first, last uint64, most int) (list eventList, err error) {
	for left, span := last, uint64(tailSpan); left >= first && (list.size < most || len(list.events) == 0); {
		from := first
		if left-first >= span {
			at := left - span + 1
			start, err := r.store.FoldStart(ctx, id, at)
			if err != nil {
				return list, err
			}
			from = max(cmp.Or(start, at), first)
		}
		older, err := r.readTail(ctx, id, from, left, max(most-list.size, 0))
		if err != nil {
			return list, err
		}
		left = from - 1
		if list.prepend(older); list.cut {
			break
		}
		list.cut = left >= first
		// The number of events that fill the rest, if they are as large as the ones read.
		span = max(tailSpan, uint64(max(most-list.size, 0))*(last-left)/uint64(max(list.size, 1)))
	}
	return list, nil
}

// readTail reads the folded events first to last and returns the newest of them, as tail does.
func (r *Reader) readTail(ctx context.Context, id string, first, last uint64, most int) (list eventList, err error) {
	for line, err := range eventlog.Lines(ctx, r.store, id, first-1, last) {
		if err != nil {
			return list, err
		}
		list.add(line)
		for len(list.events) > 1 && list.size-len(list.events[0])-1 >= most {
			list.drop()
		}
	}
	return list, nil
}

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

// seqRange returns the first and last seq of an encoded event.
func seqRange(line []byte) (first, last uint64) {
	var e protocol.Event
	_ = json.Unmarshal(line, &e) // encoded by this program
	return e.First(), e.Seq
}
