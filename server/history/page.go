package history

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

const (
	pageTurns    = 20 // by default
	maxPageTurns = 100
	pageBytes    = 1 << 20
	readBytes    = 256 << 10 // of one read from the store
)

// Page returns finished turns before a seq and the notices around them, oldest first: at most
// d.Limit turns and about pageBytes. Turns are complete, except that a single turn larger than a
// page is returned from its end and continued by the next page.
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
	if page.Events, page.More, err = r.outside(ctx, id, lastOf(turns), end, pageBytes); err != nil {
		return nil, r.readError(id, err)
	}
	if page.More {
		turns = nil
	}
	size := bytesOf(page.Events)
	for i, t := range turns {
		if i == limit || size >= pageBytes {
			page.More = true
			break
		}
		last := t.Last
		if d.Before != 0 {
			last = min(last, d.Before-1)
		}
		events, cut, n, err := r.tail(ctx, id, t.First, last, pageBytes-size)
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
			notices, cut, err = r.outside(ctx, id, lastOf(turns[i+1:]), t.First, max(pageBytes-size, 0))
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

// tail reads the folded events first to last and returns the newest of them within most bytes, at
// least one. cut reports whether older ones were left out; size is in bytes, with newlines.
func (r *Reader) tail(
	ctx context.Context,
	id string,
	first, last uint64,
	most int,
) (events []json.RawMessage, cut bool, size int, err error) {
	var buf []byte
	for after := first - 1; after < last; {
		lines, upto, err := r.store.Read(ctx, id, after, last, true, readBytes, buf[:0])
		if err != nil {
			return nil, false, 0, err
		}
		if upto == after {
			break
		}
		for line := range bytes.Lines(lines) {
			events = append(events, slices.Clone(bytes.TrimSuffix(line, []byte("\n"))))
			size += len(line)
		}
		drop := 0
		for size > most && drop < len(events)-1 {
			size -= len(events[drop]) + 1
			drop++
		}
		events, cut = slices.Delete(events, 0, drop), cut || drop > 0
		after, buf = upto, lines
	}
	return events, cut, size, nil
}

// seqRange returns the first and last seq of an encoded event.
func seqRange(line []byte) (first, last uint64) {
	var e protocol.Event
	_ = json.Unmarshal(line, &e) // encoded by this program
	return e.First(), e.Seq
}
