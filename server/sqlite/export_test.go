package sqlite

import (
	"context"
	"errors"
	"time"
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

// Collect deletes the rows of removed sessions and gives their space back.
func (s *Store) Collect(ctx context.Context) error {
	return errors.Join(s.collectRemoved(ctx), s.giveBack(ctx))
}
