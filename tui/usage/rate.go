package usage

import "time"

// span is over how many seconds a rate is taken.
const span = 8

// A rate is how much came in the last seconds.
type rate struct {
	second int64 // of the newest sum
	since  int64 // second in which it began
	sums   [span]int64
}

func (r *rate) add(now time.Time, n int64) {
	r.pass(now)
	if r.since == 0 {
		r.since = r.second
	}
	r.sums[r.second%span] += n
}

// pass lets time go by; after span seconds without anything it begins anew.
func (r *rate) pass(now time.Time) {
	second := now.Unix()
	if second-r.second >= span {
		*r = rate{}
	}
	for s := r.second + 1; s <= second && r.since != 0; s++ {
		r.sums[s%span] = 0
	}
	r.second = max(r.second, second)
}

// per is how much came in each of the seconds that are over; ok once there is something to tell.
func (r *rate) per(now time.Time) (perSecond float64, ok bool) {
	r.pass(now)
	sum := -r.sums[r.second%span]
	for _, n := range r.sums {
		sum += n
	}
	seconds := min(r.second-r.since, span-1)
	if sum <= 0 || seconds < 1 {
		return 0, false
	}
	return float64(sum) / float64(seconds), true
}
