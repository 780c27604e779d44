package login

import (
	"context"
	"errors"
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

// The answers to wrong passwords are delayed by the failures of the name, from whatever address,
// and of the address, for whatever name. The delay grows, is bounded and is forgotten.
func TestWrongPasswordsAreAnsweredMoreSlowlyEachTime(t *testing.T) {
	for name, next := range map[string]func(n int) attempt{
		"one name":    func(n int) attempt { return attempt{"ada", string(rune('a' + n))} },
		"one address": func(n int) attempt { return attempt{string(rune('a' + n)), "here"} },
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

// A right password is answered at once while the answers to wrong ones are delayed, for the same
// name from the same address too, and it ends the delays of its name.
func TestARightPasswordDoesNotWaitForWrongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle, here := newThrottle(), attempt{"ada", "here"}
		var attackers sync.WaitGroup
		for range suspectWaiting {
			attackers.Go(func() { _, _, _ = took(throttle, here, wrong) })
		}
		synctest.Wait()
		for _, a := range []attempt{here, {"bob", "here"}, {"ada", "there"}} {
			if ok, d, err := took(throttle, a, right); !ok || d != 0 || err != nil {
				t.Errorf("%+v: %v after %s, %v", a, ok, d, err)
			}
		}
		attackers.Wait()
		if _, d, _ := took(throttle, attempt{"ada", "there"}, wrong); d != 0 {
			t.Errorf("after a success the next failure is delayed by %s", d)
		}
	})
}

// Checks that take long hold up no address without failures, and their number is bounded.
func TestAFloodOfWrongPasswordsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		throttle, flood := newThrottle(), attempt{"ada", "flood"}
		for range freeFailures {
			_, _, _ = took(throttle, flood, wrong)
		}
		var attackers sync.WaitGroup
		defer attackers.Wait()
		attackers.Go(func() { _, _, _ = took(throttle, flood, wrong) }) // its answer is delayed
		synctest.Wait()
		release := make(chan struct{})
		for range 1 + suspectWaiting {
			attackers.Go(func() {
				_, _, _ = took(throttle, flood, func() bool {
					<-release
					return false
				})
			})
		}
		synctest.Wait()
		if _, d, err := took(throttle, flood, wrong); !errors.Is(err, errBusy) || d != 0 {
			t.Errorf("beyond the bound: %v after %s", err, d)
		}
		if ok, d, err := took(throttle, attempt{"ada", "elsewhere"}, right); !ok || d != 0 || err != nil {
			t.Errorf("another address: %v after %s, %v", ok, d, err)
		}
		close(release)
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
					_, err := throttle.do(t.Context(), attempt{name, name}, wrong)
					mu.Lock()
					if errors.Is(err, errBusy) {
						refused++
					}
					mu.Unlock()
				}
			})
		}
		attackers.Wait()
		if refused == 0 || len(throttle.failures) > maxFailureKeys || throttle.total != 0 ||
			len(throttle.delayed) != 0 {
			t.Errorf("%d refused, %d remembered, %d delayed", refused, len(throttle.failures), throttle.total)
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
