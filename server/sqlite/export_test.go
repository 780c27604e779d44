package sqlite

import "time"

// WithQuiet returns o with another time before the log of a quiet store is emptied.
func (o Options) WithQuiet(d time.Duration) Options {
	o.quiet = d
	return o
}
