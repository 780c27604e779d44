package usage

import "time"

// rateSeconds is over how many seconds a rate is taken.
const rateSeconds = 8

// A rate is how much came in the last seconds.
type rate struct {
	second int64 // of the newest sum
	since  int64 // second in which it began
	sums   [rateSeconds]int64
}

func (r *rate) add(now time.Time, n int64) {
	r.advance(now)
	if r.since == 0 {
		r.since = r.second
	}
	r.sums[r.second%rateSeconds] += n
}

// advance lets time go by; after span seconds without anything it begins anew.
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

// perSecond is how much came in each of the seconds that are over; ok once there is something to tell.
func (r *rate) perSecond(now time.Time) (perSecond float64, ok bool) {
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
