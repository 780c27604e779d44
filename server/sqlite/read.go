package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"sync"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// Read appends events to dst. It implements session.Store. The error for a missing session wraps
// ErrNotFound.
func (s *Store) Read(
	ctx context.Context, id string, after, through uint64, folded bool, limit int, dst []byte,
) ([]byte, uint64, error) {
	r := &eventReader{
		ctx: ctx, last: after, through: min(through, maxSeq), start: len(dst), limit: limit, dst: dst,
		stored: rowBuffers.Get().(*[]byte),
	}
	defer rowBuffers.Put(r.stored)
	err := s.readSession(ctx, id, func(conn *sqlite.Conn, n int64) error {
		r.conn, r.n = conn, n
		if folded {
			return r.readFolded()
		}
		return r.readRaw(r.through)
	})
	if err != nil {
		return dst, after, fmt.Errorf("read events of %s after %d: %w", id, r.last, err)
	}
	return r.dst, r.last, nil
}

// FoldStart returns the start of a fold. It implements session.Store.
func (s *Store) FoldStart(ctx context.Context, id string, seq uint64) (start uint64, err error) {
	err = s.readSession(ctx, id, func(conn *sqlite.Conn, n int64) error {
		q := prepare(conn, selectFoldAt).int(key(n, 0)).int(key(n, min(seq, maxSeq)))
		return q.each(func(q *statement) error {
			if f := seqRangeAt(q, 0); f.last >= seq {
				start = f.first()
			}
			return nil
		})
	})
	return start, wrap(err, "read the fold of event %d of %s", seq, id)
}

// An eventReader is the state of one Read. Rows are decompressed into dst and trimmed there.
type eventReader struct {
	ctx     context.Context
	conn    *sqlite.Conn
	n       int64
	last    uint64 // seq of the last event in dst
	through uint64
	start   int // length of dst before the call
	limit   int // maximum bytes appended, unless the first line is longer
	full    bool
	dst     []byte
	stored  *[]byte // the data of a row as stored
}

// readRaw appends events up to through, until full.
func (r *eventReader) readRaw(through uint64) error {
	if r.last >= through {
		return nil
	}
	q := prepare(r.conn, selectChunks).int(key(r.n, 0)).int(key(r.n, r.last+1)).int(key(r.n, through))
	defer q.reset()
	for r.last < through && !r.full {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		ok, err := q.next()
		if err != nil {
			return err
		}
		if !ok {
			return r.checkEnd(through)
		}
		if err := r.readChunk(q, through); err != nil {
			return err
		}
	}
	return nil
}

// readChunk appends the requested lines of the current row that fit.
func (r *eventReader) readChunk(q *statement, through uint64) error {
	c := seqRangeAt(q, 0)
	base := len(r.dst)
	if err := r.loadRow(q, c); err != nil {
		return err
	}
	if err := r.appendRow(c); err != nil {
		return err
	}
	if c.first() > r.last+1 {
		return r.missingError(c.first() - 1)
	}
	if c.last <= r.last { // before the range: event r.last+1 has no chunk
		r.dst = r.dst[:base]
		return nil
	}
	lines := r.dst[base:]
	lines = lines[lineEnd(lines, r.last+1-c.first()):]
	if through < c.last {
		lines = lines[:lineEnd(lines, through-r.last)]
	}
	if room := r.limit - (base - r.start); len(lines) > room {
		r.full = true
		end := bytes.LastIndexByte(lines[:max(room, 0)], '\n') + 1
		if end == 0 && base == r.start {
			end = lineEnd(lines, 1)
		}
		lines = lines[:end]
	}
	r.last += uint64(bytes.Count(lines, newline))
	r.dst = append(r.dst[:base], lines...)
	return nil
}

// readFolded appends folds that are within the requested range and raw events between them, until
// full.
func (r *eventReader) readFolded() error {
	folds := prepare(r.conn, selectFolds).int(key(r.n, r.last+1)).int(key(r.n, r.through))
	defer folds.reset()
	for !r.full {
		ok, err := folds.next()
		if err != nil {
			return err
		}
		if !ok {
			return r.readRaw(r.through)
		}
		f := seqRangeAt(folds, 0)
		if f.first() <= r.last || f.last > r.through {
			continue
		}
		if err := r.readRaw(f.first() - 1); err != nil || r.full {
			return err
		}
		if err := r.loadRow(folds, f); err != nil {
			return err
		}
		if size := len(r.dst) - r.start; size > 0 && size+decompressedLen(*r.stored) > r.limit {
			r.full = true
			return nil
		}
		if err := r.appendRow(f); err != nil {
			return err
		}
		r.last = f.last
	}
	return nil
}

// checkEnd returns an error when events up to through exist that no chunk contains.
func (r *eventReader) checkEnd(through uint64) error {
	head, err := loadHead(r.conn, r.n)
	if err != nil {
		return err
	}
	if last := min(head.last, through); r.last < last {
		return r.missingError(last)
	}
	return nil
}

func (r *eventReader) missingError(last uint64) error {
	return &eventlog.CorruptError{First: r.last + 1, Last: last}
}

// loadRow reads the data of the current row as stored and verifies its checksum.
func (r *eventReader) loadRow(q *statement, s seqRange) error {
	*r.stored = q.blobTo(3, *r.stored)
	if q.sumAt(2) != s.sum(*r.stored) {
		return &eventlog.CorruptError{First: s.first(), Last: s.last}
	}
	return nil
}

// appendRow appends the data of the loaded row.
func (r *eventReader) appendRow(s seqRange) (err error) {
	if r.dst, err = decompress(r.dst, *r.stored); err != nil {
		return &eventlog.CorruptError{First: s.first(), Last: s.last}
	}
	return nil
}

// rowBuffers holds the memory of rows as stored, between calls of Read.
var rowBuffers = sync.Pool{New: func() any { return new([]byte) }}

var newline = []byte{'\n'}

// lineEnd returns the end of the first n lines of data.
func lineEnd(data []byte, n uint64) int {
	end := 0
	for ; n > 0 && end < len(data); n-- {
		end += bytes.IndexByte(data[end:], '\n') + 1
	}
	return end
}
