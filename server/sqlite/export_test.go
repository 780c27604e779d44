package sqlite

import "time"

// WithRounds returns o with another time between rounds of housekeeping.
func (o Options) WithRounds(d time.Duration) Options {
	o.every = d
	return o
}

// WithLogLimit returns o with another size at which the log is emptied under load.
func (o Options) WithLogLimit(bytes int64) Options {
	o.logLimit = bytes
	return o
}
