package web

import (
	"context"

	"agentctl/server/eventlog"
)

// A cursor is a reader's place in a session's log.
type cursor struct {
	log   *eventlog.Log
	after uint64
	fold  bool
}

// next calls f with the next lines and moves on. It reports whether there were any. f must neither
// keep nor change the lines: they may be part of the log, which other readers read.
func (c *cursor) next(ctx context.Context, f func(lines []byte)) (bool, error) {
	lines, last, err := c.log.Read(ctx, c.after, c.fold, sseBatch)
	if err != nil || last == c.after {
		return false, err
	}
	f(lines)
	c.after = last
	return true, nil
}
