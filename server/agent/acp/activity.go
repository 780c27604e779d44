package acp

import (
	"sync"
	"time"
)

// An activity is what shows that the agent still works in a turn. Its methods may be called from any
// goroutine.
type activity struct {
	mu      sync.Mutex
	heard   time.Time // the last update
	asking  int       // pending requests
	reports bool      // the agent reports the end of its work: silence does not end it
}

// hear notes an update.
func (a *activity) hear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.heard = time.Now()
}

// ask notes that a request waits for its answer.
func (a *activity) ask() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asking++
}

// answer notes that a request has its answer. Silence counts from now.
func (a *activity) answer() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asking--
	a.heard = time.Now()
}

// setReports notes that the agent reports the end of its work.
func (a *activity) setReports() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reports = true
}

// left returns after which further silence the work is over, if most is the longest.
func (a *activity) left(now time.Time, most time.Duration) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reports || a.asking > 0 {
		return most
	}
	return most - now.Sub(a.heard)
}
