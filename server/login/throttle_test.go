package login

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	right = func() bool { return true }
	wrong = func() bool { return false }
)

// took runs an attempt and returns its result and time.
func took(t *throttle, a attempt, check func() bool) (ok bool, d time.Duration, err error) {
	start := time.Now()
	ok, err = t.do(context.Background(), a, check)
	return ok, time.Since(start), err
}

// Failures of a name, from any address, and of an address, for any name, delay the answers to wrong
// passwords. The delay grows, is bounded and is forgotten.
func TestWrongPasswordsAreAnsweredMoreSlowlyEachTime(t *testing.T) {
	for name, next := range map[string]func(n int) attempt{
		"one name":    func(n int) attempt { return attempt{name: "ada", address: string(rune('a' + n))} },
		"one address": func(n int) attempt { return attempt{name: string(rune('a' + n)), address: "here"} },
	} {
		synctest.Test(t, func(t *testing.T) {
			throttle := newThrottle()
			for n, want := range []time.Duration{
				0, 0, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
				maxDelay, maxDelay,
			} {
				if ok, d, err := took(throttle, next(n), wrong); ok || err != nil || d != want {
					t.Errorf("%s: failure %d is answered %v after %s (%v), want %s", name, n+1, ok, d, err, want)
				}
			}
			time.Sleep(failureMemory + time.Second)
			if _, d, _ := took(throttle, next(0), wrong); d != 0 {
				t.Errorf("%s: delayed by %s after a long time", name, d)
			}
		})
	}
}

// A right password is answered immediately while the answers to wrong ones are delayed, for the
// same name from the same address too, and it ends the delays of its name.
func TestARightPasswordDoesNotWaitForWrongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle, here := newThrottle(), attempt{name: "ada", address: "here"}
		var attackers sync.WaitGroup
		for range failWaiting {
			attackers.Go(func() { _, _, _ = took(throttle, here, wrong) })
		}
		synctest.Wait()
		for _, a := range []attempt{here, {name: "bob", address: "here"}, {name: "ada", address: "there"}} {
			if ok, d, err := took(throttle, a, right); !ok || d != 0 || err != nil {
				t.Errorf("%+v: %v after %s, %v", a, ok, d, err)
			}
		}
		attackers.Wait()
		if _, d, _ := took(throttle, attempt{name: "ada", address: "there"}, wrong); d != 0 {
			t.Errorf("after a success the next failure is delayed by %s", d)
		}
	})
}

// fill fills the lane of an attempt with checks that take until release is closed.
func (t *throttle) fill(a attempt, release <-chan struct{}, attackers *sync.WaitGroup) {
	for range cap(t.lane(a).waiting) {
		attackers.Go(func() {
			_, _, _ = took(t, a, func() bool {
				<-release
				return false
			})
		})
	}
	synctest.Wait()
}

// Any number of slow checks delays only checks with the same recent failures: by name, by address
// or both. A recognized password waits for none. The number of checks is bounded.
func TestAFloodOfWrongPasswordsHoldsUpItsOwnLaneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		for _, a := range []attempt{{name: "ada", address: "flood"}, {name: "ada", address: "x"}} {
			_, _, _ = took(throttle, a, wrong)
		}
		of := map[string]attempt{
			"name and address": {name: "ada", address: "flood"}, "name": {name: "ada", address: "elsewhere"},
			"address": {name: "bob", address: "flood"}, "neither": {name: "bob", address: "elsewhere"},
		}
		for flooded, flood := range of {
			var attackers sync.WaitGroup
			release := make(chan struct{})
			throttle.fill(flood, release, &attackers)
			if _, d, err := took(throttle, flood, wrong); !errors.Is(err, errBusy) || d != 0 {
				t.Errorf("%s, beyond the bound: %v after %s", flooded, err, d)
			}
			for name, a := range of {
				if name == flooded {
					a.recognized = true
				}
				before := throttle.snapshot()
				if ok, d, err := took(throttle, a, right); !ok || d != 0 || err != nil {
					t.Errorf("failures of %s are checked, of %s: %v after %s, %v", flooded, name, ok, d, err)
				}
				throttle.restore(before)
			}
			before := throttle.snapshot()
			close(release)
			attackers.Wait()
			throttle.restore(before)
		}
	})
}

// snapshot returns the failures, for restore.
func (t *throttle) snapshot() map[string]failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.failures)
}

func (t *throttle) restore(failures map[string]failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failures = failures
}

// A user who has logged in since the server started can log in again without delay, however many
// wrong passwords for the same name come from the same address. Any other password of the user,
// even the right one after a change, waits with the wrong ones.
func TestAKnownPasswordDoesNotWaitForAFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newTestAuthenticator(t)
		const good, bad = `{"username":"ada","password":"a"}`, `{"username":"ada","password":"b"}`
		if status, _ := login(a, http.MethodPost, good); status != http.StatusOK {
			t.Fatalf("HTTP %d", status)
		}
		here := attempt{name: "ada", address: addressOf(httptest.NewRequest(http.MethodPost, Path, nil))}
		_, _, _ = took(a.throttle, here, wrong)
		var attackers sync.WaitGroup
		defer attackers.Wait()
		release := make(chan struct{})
		defer close(release)
		a.throttle.fill(here, release, &attackers)
		start := time.Now()
		check := func(body string, want int) {
			t.Helper()
			defer a.throttle.restore(a.throttle.snapshot()) // a success forgets the failures of the name
			if status, _ := login(a, http.MethodPost, body); status != want || time.Since(start) != 0 {
				t.Errorf("%s: HTTP %d after %s, want %d", body, status, time.Since(start), want)
			}
		}
		check(good, http.StatusOK)
		check(bad, http.StatusTooManyRequests)
		check(good, http.StatusOK)
		users, err := ReadUsers(fmt.Appendf(nil, `{"ada":{"password":%q,"role":"admin"}}`, cheapHash("b")))
		if err != nil {
			t.Fatal(err)
		}
		a.SetUsers(users)
		check(good, http.StatusTooManyRequests)
		check(bad, http.StatusTooManyRequests)
	})
}

// Neither memory nor waiting answers grow without a bound.
func TestFailuresAreRememberedUpToABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle := newThrottle()
		var attackers sync.WaitGroup
		refused := 0
		var mu sync.Mutex
		for n := range maxFailureKeys + 10 {
			attackers.Go(func() {
				name := string(rune('a'+n%26)) + string(rune(0x4e00+n))
				for range freeFailures + 1 {
					_, err := throttle.do(t.Context(), attempt{name: name, address: name}, wrong)
					mu.Lock()
					if errors.Is(err, errBusy) {
						refused++
					}
					mu.Unlock()
				}
			})
		}
		attackers.Wait()
		if refused == 0 || len(throttle.failures) > maxFailureKeys || throttle.delayed != 0 {
			t.Errorf("%d refused, %d remembered, %d delayed", refused, len(throttle.failures), throttle.delayed)
		}
	})
}

func TestAddressesOfOneClientAreOne(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "::ffff:192.0.2.1", "[2001:db8::1]:80": "2001:db8::/64",
		"[2001:db8::2%eth0]:80": "2001:db8::/64", "@": "@",
	} {
		r := httptest.NewRequest("POST", Path, nil)
		r.RemoteAddr = remote
		if got := addressOf(r); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}
