package task

import (
	"context"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Items wait for the pace, all together; an urgent one, and a full batch, for FrameTime only.
func TestPumpAtWaitsForThePace(t *testing.T) {
	for _, tt := range []struct {
		name  string
		items []time.Duration // time of each item; the last one is urgent if urgent is set
		last  bool
		want  []time.Duration // time of each batch
	}{
		{"each at its time", []time.Duration{0, 200, 500}, false, []time.Duration{0, 200, 500}},
		{"together", []time.Duration{0, 20, 40, 60, 90}, false, []time.Duration{0, 100}},
		{"urgent", []time.Duration{0, 20, 40, 60}, true, []time.Duration{0, 60}},
		{"urgent at once", []time.Duration{0, 5}, true, []time.Duration{0, 16}},
		{"urgent first", []time.Duration{7}, true, []time.Duration{7}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var due time.Time
				pace := Pace[int]{
					Wait:   func() time.Duration { return max(0, time.Until(due)) },
					Urgent: func(i int) bool { return tt.last && i == len(tt.items)-1 },
				}
				var times []time.Duration
				var got []int
				err := PumpAt(t.Context(), pace, itemsAt(tt.items), func(batch []int) {
					got = append(got, batch...)
					times = append(times, time.Since(start))
					due = time.Now().Add(100 * time.Millisecond)
				})
				if err != nil || !slices.IsSorted(got) || len(got) != len(tt.items) {
					t.Errorf("got items %v (%v)", got, err)
				}
				if want := milliseconds(tt.want); !slices.Equal(times, want) {
					t.Errorf("batches at %v, want %v", times, want)
				}
			})
		})
	}
}

func TestAFullBatchDoesNotWaitForThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		pace := Pace[int]{
			Wait: func() time.Duration { return time.Hour }, Urgent: func(int) bool { return false },
		}
		n := 0
		err := PumpAt(t.Context(), pace, itemsAt(make([]time.Duration, 3*MaxBatch)), func(batch []int) {
			n += len(batch)
		})
		if took := time.Since(start); err != nil || n != 3*MaxBatch || took > time.Second {
			t.Errorf("%d items in %v (%v)", n, took, err)
		}
	})
}

// milliseconds converts small numbers of times to milliseconds.
func milliseconds(times []time.Duration) (out []time.Duration) {
	for _, d := range times {
		if d < time.Millisecond {
			d *= time.Millisecond
		}
		out = append(out, d)
	}
	return out
}

// An item that waits for nothing takes those before it with it, with and without a pace.
func TestPumpAtSendsAnItemThatWaitsForNothingAtOnce(t *testing.T) {
	for name, pace := range map[string]Pace[int]{
		"alone": {},
		"with a pace": {
			Wait: func() time.Duration { return time.Hour }, Urgent: func(i int) bool { return i == 0 },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				pace.Now = func(i int) bool { return i == 2 }
				var times []time.Duration
				items := itemsAt([]time.Duration{0, 3, 5})
				if err := PumpAt(t.Context(), pace, items, func([]int) {
					times = append(times, time.Since(start))
				}); err != nil {
					t.Fatal(err)
				}
				if want := milliseconds([]time.Duration{0, 5}); !slices.Equal(times, want) {
					t.Errorf("batches at %v, want %v", times, want)
				}
			})
		})
	}
}

// itemsAt returns a source of numbers at times, which ends half a second after the last.
func itemsAt(times []time.Duration) func(context.Context) iter.Seq[int] {
	return func(context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			start := time.Now()
			for i, at := range milliseconds(times) {
				time.Sleep(at - time.Since(start))
				if !yield(i) {
					return
				}
			}
			time.Sleep(time.Second / 2)
		}
	}
}
