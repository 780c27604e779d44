package usage

import "time"

// rateSeconds is the window of a rate in seconds.
const rateSeconds = 8

// rate is a moving average over the last rateSeconds. It holds one sum per second in a ring.
type rate struct {
	second int64 // Unix second of the newest sum
	since  int64 // Unix second of the first sum; 0 without one
	sums   [rateSeconds]int64
}

// add adds n to the sum of the current second.
func (r *rate) add(now time.Time, n int64) {
	r.advance(now)
	if r.since == 0 {
		r.since = r.second
	}
	r.sums[r.second%rateSeconds] += n
}

// advance clears the sums between the newest second and now. After rateSeconds without a call, it
// resets the rate.
func (r *rate) advance(now time.Time) {
	second := now.Unix()
	if second-r.second >= rateSeconds {
		*r = rate{}
	}
	for s := r.second + 1; s <= second && r.since != 0; s++ {
		r.sums[s%rateSeconds] = 0
	}
	r.second = max(r.second, second)
}

// perSecond returns the average of the complete seconds. ok is false if there are none, or if their
// sum is 0.
func (r *rate) perSecond(now time.Time) (average float64, ok bool) {
	r.advance(now)
	sum := -r.sums[r.second%rateSeconds]
	for _, n := range r.sums {
		sum += n
	}
	seconds := min(r.second-r.since, rateSeconds-1)
	if sum <= 0 || seconds < 1 {
		return 0, false
	}
	return float64(sum) / float64(seconds), true
}
