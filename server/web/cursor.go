package web

import (
	"context"
	"sync"
)

// A log is what a cursor reads: a session.Log.
type log interface {
	Read(ctx context.Context, after uint64, folded bool, most int, buf []byte) ([]byte, uint64, error)
}

// A cursor is a reader's place in a session's log.
type cursor struct {
	log   log
	after uint64
	fold  bool
}

// readBuffers holds buffers, so that a waiting reader has none.
var readBuffers = sync.Pool{New: func() any { b := make([]byte, 0, sseBatch); return &b }}

// next calls f with the next lines and moves on. It reports whether there were any. f must neither
// keep nor change the lines: they may be part of the log, which other readers read.
func (c *cursor) next(ctx context.Context, f func(lines []byte)) (bool, error) {
	buf := readBuffers.Get().(*[]byte)
	defer readBuffers.Put(buf)
	lines, last, err := c.log.Read(ctx, c.after, c.fold, sseBatch, (*buf)[:0])
	if err != nil || last == c.after {
		return false, err
	}
	f(lines)
	c.after = last
	return true, nil
}
