package acp

import (
	"context"
	"sync"
)

// maxWaiting bounds what an agent sends before a turn of its work begins.
const maxWaiting = 1000

// A lane passes what the agent sends in one ACP session to the current turn, in order. Without a
// turn it keeps what is work until a turn has begun for it.
type lane struct {
	begin func(ctx context.Context) error // begins a turn, which calls setTurn; static; nil: never

	mu       sync.Mutex // held while waiting arrivals are applied
	turn     *turn      // nil: none
	accepts  bool       // work may begin
	active   bool       // the agent reports that it works, and will report the end
	waiting  []arrival  // not empty: a turn begins
	cancel   context.CancelFunc
	begun    chan struct{}  // closed when nothing waits any more; nil: nothing waits
	begins   sync.WaitGroup // calls of begin
	finished bool           // no turn begins any more
}

// An arrival is an update or a request of the agent.
type arrival struct {
	work  bool             // it begins a turn
	apply func(*turn) bool // reports false if the turn has no use for it or is over
	drop  func()           // called if no turn takes it
}

// pass passes on an arrival. One goroutine passes on updates and requests.
func (l *lane) pass(a arrival) {
	for {
		l.mu.Lock()
		t := l.turn
		if t == nil && l.keep(a) {
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		switch {
		case t == nil:
			a.drop()
			return
		case a.apply(t):
			return
		case !a.work || l.current() == t:
			a.drop()
			return
		}
	}
}

// keep keeps an arrival for the turn that begins. It requires mu.
func (l *lane) keep(a arrival) bool {
	if l.finished || len(l.waiting) == maxWaiting || len(l.waiting) == 0 && (!a.work || !l.accepts || l.begin == nil) {
		return false
	}
	l.waiting = append(l.waiting, a)
	if len(l.waiting) > 1 {
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel, l.begun = cancel, make(chan struct{})
	l.begins.Go(func() {
		defer cancel()
		if l.begin(ctx) != nil && ctx.Err() == nil {
			l.dropWaiting()
		}
	})
	return true
}

// dropWaiting drops what waits for a turn that cannot begin.
func (l *lane) dropWaiting() {
	l.mu.Lock()
	waiting := l.waiting
	l.empty()
	l.mu.Unlock()
	for _, a := range waiting {
		a.drop()
	}
}

// empty notes that nothing waits. It requires mu.
func (l *lane) empty() {
	l.waiting = nil
	if l.begun != nil {
		close(l.begun)
		l.begun = nil
	}
}

// pending returns a channel that is closed when the turn that begins has begun, or cannot; nil: none
// begins.
func (l *lane) pending() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

// current returns the current turn, or nil.
func (l *lane) current() *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn
}

// ready returns the current turn if nothing waits; else nil.
func (l *lane) ready() *turn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > 0 {
		return nil
	}
	return l.turn
}

// accept notes that work may begin from now on.
func (l *lane) accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.accepts = true
}

// setActive notes whether the agent works: it reports each change.
func (l *lane) setActive(active bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.active, l.accepts = active, l.accepts || active
}

// setTurn makes t the current turn, and applies what waits for one.
func (l *lane) setTurn(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
	l.turn = t
	if l.active {
		t.activity.setReports()
	}
	for _, a := range l.waiting {
		if !a.apply(t) {
			a.drop()
		}
	}
	l.empty()
}

// leave detaches the turn before its end: what follows is work of the next one.
func (l *lane) leave(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.turn == t && l.begin != nil {
		l.turn, l.accepts = nil, true
	}
}

// endTurn detaches the turn and waits for its pending requests.
func (l *lane) endTurn(t *turn) {
	l.mu.Lock()
	l.turn = nil
	l.mu.Unlock()
	t.finish()
}

// finish waits for begins that are in progress. No turn begins afterwards.
func (l *lane) finish() {
	l.mu.Lock()
	l.finished = true
	l.empty()
	if l.cancel != nil {
		l.cancel()
	}
	l.mu.Unlock()
	l.begins.Wait()
}
