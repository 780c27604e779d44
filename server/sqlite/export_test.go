package sqlite

import "time"

// WithInterval returns o with another time between rounds of housekeeping.
func (o Options) WithInterval(d time.Duration) Options {
	o.interval = d
	return o
}

// WithWALLimit returns o with another size at which the log is emptied under load.
func (o Options) WithWALLimit(bytes int64) Options {
	o.walLimit = bytes
	return o
}
