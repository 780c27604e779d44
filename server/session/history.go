package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"agentctl/protocol"
)

const (
	historyTurns = 20
	historyMost  = 100
	historyBytes = 1 << 20
	blobPiece    = 512 << 10
)

// history reads finished turns from the store. It needs nothing of the session in memory: what is finished is durable.
func (h *Hub) history(ctx context.Context, name string, d *protocol.HistoryData) (*protocol.HistoryResult, error) {
	id, err := h.Resolve(name)
	if err != nil {
		return nil, err
	}
	limit := d.Limit
	if limit <= 0 {
		limit = historyTurns
	}
	limit = min(limit, historyMost)
	rec, err := h.cfg.Store.Session(ctx, id)
	if err != nil {
		return nil, h.unreadable(id, err)
	}
	turns, err := h.cfg.Store.Turns(ctx, id, d.Before, limit+1)
	if err != nil {
		return nil, h.unreadable(id, err)
	}
	r := &protocol.HistoryResult{Epoch: rec.Epoch, Events: []json.RawMessage{}}
	size := 0
	for i, t := range turns {
		if i == limit || size >= historyBytes {
			r.More = true
			break
		}
		last := t.Last
		if d.Before != 0 {
			last = min(last, d.Before-1)
		}
		events, cut, n, err := h.tailOf(ctx, id, t.First, last, historyBytes-size)
		if err != nil {
			return nil, h.unreadable(id, err)
		}
		if i > 0 && cut {
			r.More = true
			break // a turn comes whole, unless it is the only one
		}
		size += n
		r.Events = append(events, r.Events...)
		r.More = cut
		if cut {
			break
		}
	}
	if n := len(r.Events); n > 0 {
		r.First, _ = bounds(r.Events[0])
		_, r.Last = bounds(r.Events[n-1])
	}
	return r, nil
}

// tailOf reads the folded events first to last, of which it returns the newest that fit most bytes, at least one.
func (h *Hub) tailOf(ctx context.Context, id string, first, last uint64, most int) (events []json.RawMessage, cut bool, size int, err error) {
	var buf []byte
	for after := first - 1; after < last; {
		lines, upto, err := h.cfg.Store.Read(ctx, id, after, last, true, 256<<10, buf[:0])
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

// bounds returns the first and last seq of an encoded event.
func bounds(line []byte) (first, last uint64) {
	var e protocol.Event
	_ = json.Unmarshal(line, &e) // our own encoding
	return e.First(), e.Seq
}

// blob reads a piece of a blob.
func (h *Hub) blob(ctx context.Context, name string, d *protocol.BlobData) (*protocol.BlobResult, error) {
	b, err := h.Blob(ctx, name, d.Blob)
	if err != nil {
		return nil, err
	}
	if d.Limit <= 0 || d.Limit > blobPiece {
		d.Limit = blobPiece
	}
	size := int64(len(b.Data))
	from := max(0, min(d.Offset, size))
	return &protocol.BlobResult{
		Blob: d.Blob, MediaType: b.MediaType, Bytes: size, Offset: from, Data: b.Data[from:min(from+d.Limit, size)],
	}, nil
}

// Blob returns a session's blob.
func (h *Hub) Blob(ctx context.Context, name, blob string) (Blob, error) {
	id, err := h.Resolve(name)
	if err != nil {
		return Blob{}, err
	}
	b, err := h.cfg.Store.Blob(ctx, id, blob)
	if errors.Is(err, ErrNotFound) {
		return Blob{}, protocol.Errorf(protocol.CodeNotFound, "session %s has no blob %.80q", id, blob)
	}
	if err != nil {
		return Blob{}, h.unreadable(id, err)
	}
	return b, nil
}

// unreadable logs why a session cannot be read and makes the error that the client gets.
func (h *Hub) unreadable(id string, err error) error {
	if errors.Is(err, ErrNotFound) {
		return noSession(id)
	}
	h.log.Error("read session", "session", id, "err", err)
	return protocol.Errorf(protocol.CodeStorage, "session %s cannot be read; the server's log tells why", id)
}
