package sqlite

import (
	"context"
	"errors"
	"time"

	"zombiezen.com/go/sqlite"
)

// WithInterval returns o with another interval of maintenance.
func (o Options) WithInterval(d time.Duration) Options {
	o.interval = d
	return o
}

// WithWALLimit returns o with another limit of the write-ahead log, in bytes.
func (o Options) WithWALLimit(bytes int64) Options {
	o.walLimit = bytes
	return o
}

// WithCachedSessions returns o with another number of sessions in the cache of the writer.
func (o Options) WithCachedSessions(n int) Options {
	o.cached = n
	return o
}

// Collect deletes the rows of removed sessions and gives their space back.
func (s *Store) Collect(ctx context.Context) error {
	return errors.Join(s.collectRemoved(ctx), s.giveBack(ctx))
}

// Merge merges the chunks of a range of events.
func (s *Store) Merge(ctx context.Context, id string, first, last uint64) error {
	return s.mergeTurn(ctx, turnRange{session: id, first: first, last: last})
}

// AddTurn adds a turn that waits for a merge, and does not wake maintenance.
func (s *Store) AddTurn(id string, first, last uint64) {
	s.merges.mu.Lock()
	defer s.merges.mu.Unlock()
	s.merges.turns = append(s.merges.turns, turnRange{session: id, first: first, last: last})
}

// Chunks returns the number of chunks of a session.
func (s *Store) Chunks(ctx context.Context, id string) (n int64, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) error {
		of, err := sessionNumber(conn, id)
		if err != nil {
			return err
		}
		q := prepare(conn, countSmall).int(key(of, 0)).int(key(of, maxSeq)).int(1 << 40)
		defer q.reset()
		_, err = q.next()
		n = q.intAt(0)
		return err
	})
	return n, err
}
