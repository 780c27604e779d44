package sqlite

import "time"

// WithQuiet returns o with another time before the log of a quiet store is emptied.
func (o Options) WithQuiet(d time.Duration) Options {
	o.quiet = d
	return o
}

// WithLogLimit returns o with another size at which the log is emptied under load.
func (o Options) WithLogLimit(bytes int64) Options {
	o.logLimit = bytes
	return o
}
