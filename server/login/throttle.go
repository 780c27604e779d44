package login

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	freeFailures   = 2                      // of a name or address before answers are delayed
	firstDelay     = 500 * time.Millisecond // of the next one; doubles with each failure
	maxDelay       = 10 * time.Second
	failureMemory  = 15 * time.Minute // without a failure, after which a name or address starts again
	maxFailureKeys = 8192             // names and addresses remembered
	pruneSample    = 64               // of them are looked at to forget one

	maxDelayed  = 256 // wrong passwords whose answers are delayed; further ones are answered errBusy
	checkers    = 2   // slots of a lane without recent failures; one with failures has a single slot
	maxWaiting  = 64  // checks that wait for them
	failWaiting = 16  // checks that wait for the slot of a lane with failures
)

// errBusy answers attempts beyond the bounds.
var errBusy = errors.New("too many wrong passwords: try again in a few seconds")

// An attempt is a login.
type attempt struct {
	name, address string
	recognized    bool // the user has logged in with the password before
}

// addressOf returns the address of a request: of IPv6 the /64, which one client has.
func addressOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if ip = ip.Unmap(); err != nil || ip.Is4() {
		return host
	}
	network, _ := ip.WithZone("").Prefix(64) // fails only for bad lengths
	return network.String()
}

// A throttle slows guessing. A password is checked before any delay, so that a right one does not
// wait for the delays of wrong ones. Failures of a name and of an address delay the answers to
// wrong passwords.
//
// Checks wait in lanes with separate slots. A recognized password waits only for recognized ones.
// Any other password waits for attempts with the same recent failures: by name, by address, both or
// neither. Every wait queue is bounded.
type throttle struct {
	recognized *lane
	lanes      map[recent]*lane

	mu       sync.Mutex // guards the fields below; held briefly
	failures map[string]failure
	delayed  int // answers
}

// recent states whether the name or the address of an attempt has failed within failureMemory.
type recent struct{ name, address bool }

type failure struct {
	count int
	last  time.Time
}

func newThrottle() *throttle {
	failing := func() *lane { return newLane(1, failWaiting) }
	return &throttle{
		recognized: newLane(checkers, maxWaiting),
		lanes: map[recent]*lane{
			{}:           newLane(checkers, maxWaiting),
			{name: true}: failing(), {address: true}: failing(), {true, true}: failing(),
		},
		failures: map[string]failure{},
	}
}

// do runs a check and returns its result, a wrong one delayed. Errors are errBusy and ctx's cause.
func (t *throttle) do(ctx context.Context, a attempt, check func() bool) (bool, error) {
	ok, err := t.lane(a).do(ctx, check)
	if err != nil {
		return false, err
	}
	if ok {
		t.forgive(a)
		return true, nil
	}
	delay, err := t.fail(a)
	if err != nil || delay == 0 {
		return false, err
	}
	defer t.answered()
	select {
	case <-time.After(delay):
		return false, nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}

func (t *throttle) lane(a attempt) *lane {
	if a.recognized {
		return t.recognized
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	failed := func(key string) bool {
		f, ok := t.failures[key]
		return ok && time.Since(f.last) <= failureMemory
	}
	return t.lanes[recent{failed(a.nameKey()), failed(a.addressKey())}]
}

// forgive forgets the failures of a name. Failures of the address stay: its owner may have a
// password and guess others.
func (t *throttle) forgive(a attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.failures, a.nameKey())
}

// fail counts a failure and returns the delay of its answer, which counts until answered is called.
func (t *throttle) fail(a attempt) (time.Duration, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delay := max(t.count(a.nameKey()), t.count(a.addressKey()))
	if delay == 0 {
		return 0, nil
	}
	if t.delayed >= maxDelayed {
		return 0, errBusy
	}
	t.delayed++
	return delay, nil
}

func (t *throttle) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.delayed--
}

// count counts a failure of a key and returns the delay for it. It requires mu.
func (t *throttle) count(key string) time.Duration {
	now := time.Now()
	f := t.failures[key]
	if now.Sub(f.last) > failureMemory {
		f.count = 0
	}
	f.count, f.last = f.count+1, now
	if f.count == 1 && len(t.failures) >= maxFailureKeys {
		t.prune()
	}
	t.failures[key] = f
	if f.count <= freeFailures {
		return 0
	}
	return min(firstDelay<<min(f.count-freeFailures-1, 10), maxDelay)
}

// prune drops the oldest of some keys. It requires mu.
func (t *throttle) prune() {
	oldest, sample := "", 0
	for key, f := range t.failures { // in random order
		if oldest == "" || f.last.Before(t.failures[oldest].last) {
			oldest = key
		}
		if sample++; sample == pruneSample {
			break
		}
	}
	delete(t.failures, oldest)
}

// nameKey returns the key of the name's failures. No user has a name beyond maxName.
func (a attempt) nameKey() string { return "name " + a.name[:min(len(a.name), maxName+1)] }

func (a attempt) addressKey() string { return "address " + a.address }

// A lane runs a bounded number of checks concurrently; a bounded number of others wait.
type lane struct {
	slots   chan struct{}
	waiting chan struct{}
}

func newLane(slots, waiting int) *lane {
	return &lane{make(chan struct{}, slots), make(chan struct{}, slots+waiting)}
}

// do runs a check when a slot is free. The error is errBusy or the cause of ctx.
func (l *lane) do(ctx context.Context, check func() bool) (bool, error) {
	select {
	case l.waiting <- struct{}{}:
		defer func() { <-l.waiting }()
	default:
		return false, errBusy
	}
	select {
	case l.slots <- struct{}{}:
		defer func() { <-l.slots }()
		return check(), nil
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
}
