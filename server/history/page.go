package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

const (
	pageTurns    = 20 // by default
	maxPageTurns = 100
	tailSpan     = 512 // events of a long turn that are read first, from its end
)

// Page returns finished turns before a seq and the notices around them, oldest first: at most
// d.Limit turns and about d.Bytes. Turns are complete, except that a single turn larger than a page
// is returned from its end and continued by the next page.
func (r *Reader) Page(ctx context.Context, name string, d *protocol.HistoryData) (*protocol.HistoryResult, error) {
	id, err := r.sessions.Resolve(name)
	if err != nil {
		return nil, err
	}
	limit := d.Limit
	if limit <= 0 {
		limit = pageTurns
	}
	limit = min(limit, maxPageTurns)
	most := protocol.MaxHistory
	if d.Bytes > 0 {
		most = int(min(d.Bytes, protocol.MaxHistory))
	}
	rec, err := r.store.Session(ctx, id)
	if err != nil {
		return nil, r.readError(id, err)
	}
	turns, err := r.store.Turns(ctx, id, d.Before, limit+1)
	if err != nil {
		return nil, r.readError(id, err)
	}
	page := &protocol.HistoryResult{Epoch: rec.Epoch}
	end := rec.Head + 1
	if d.Before != 0 {
		end = min(end, d.Before)
	}
	if page.Events, page.More, err = r.outside(ctx, id, lastOf(turns), end, most); err != nil {
		return nil, r.readError(id, err)
	}
	if page.More {
		turns = nil
	}
	size := bytesOf(page.Events)
	for i, t := range turns {
		if i == limit || size >= most {
			page.More = true
			break
		}
		last := t.Last
		if d.Before != 0 {
			last = min(last, d.Before-1)
		}
		events, cut, n, err := r.tail(ctx, id, t.First, last, most-size)
		if err != nil {
			return nil, r.readError(id, err)
		}
		if i > 0 && cut {
			page.More = true
			break
		}
		size += n
		page.Events = append(events, page.Events...)
		if !cut {
			var notices []json.RawMessage
			notices, cut, err = r.outside(ctx, id, lastOf(turns[i+1:]), t.First, max(most-size, 0))
			if err != nil {
				return nil, r.readError(id, err)
			}
			size += bytesOf(notices)
			page.Events = append(notices, page.Events...)
		}
		page.More = cut
		if cut {
			break
		}
	}
	if n := len(page.Events); n > 0 {
		page.First, _ = seqRange(page.Events[0])
		_, page.Last = seqRange(page.Events[n-1])
	}
	return page, nil
}

// tail reads the folded events first to last and returns the newest of them, back to the one with
// which they reach most bytes. It reads from the end, in ranges that begin at a fold. cut reports
// whether older events were left out; size is in bytes, with newlines.
func (r *Reader) tail(
	ctx context.Context,
	id string,
	first, last uint64,
	most int,
) (events []json.RawMessage, cut bool, size int, err error) {
	for left, span := last, uint64(tailSpan); left >= first && (size < most || len(events) == 0); {
		from := first
		if left-first >= span {
			at := left - span + 1
			start, err := r.store.FoldStart(ctx, id, at)
			if err != nil {
				return nil, false, 0, err
			}
			from = max(cmp.Or(start, at), first)
		}
		older, dropped, n, err := r.readTail(ctx, id, from, left, max(most-size, 0))
		if err != nil {
			return nil, false, 0, err
		}
		events, size, left = append(older, events...), size+n, from-1
		if cut = dropped || left >= first; dropped {
			break
		}
		// The number of events that fill the rest, if they are as large as the ones read.
		span = max(tailSpan, uint64(max(most-size, 0))*(last-left)/uint64(max(size, 1)))
	}
	return events, cut, size, nil
}

// readTail reads the folded events first to last and returns the newest of them, as tail does.
func (r *Reader) readTail(
	ctx context.Context,
	id string,
	first, last uint64,
	most int,
) (events []json.RawMessage, cut bool, size int, err error) {
	for line, err := range eventlog.Lines(ctx, r.store, id, first-1, last) {
		if err != nil {
			return nil, false, 0, err
		}
		events = append(events, slices.Clone(bytes.TrimSuffix(line, []byte("\n"))))
		size += len(line)
		for len(events) > 1 && size-len(events[0])-1 >= most {
			size -= len(events[0]) + 1
			events, cut = events[1:], true
		}
	}
	return events, cut, size, nil
}

// seqRange returns the first and last seq of an encoded event.
func seqRange(line []byte) (first, last uint64) {
	var e protocol.Event
	_ = json.Unmarshal(line, &e) // encoded by this program
	return e.First(), e.Seq
}
