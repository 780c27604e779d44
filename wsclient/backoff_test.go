package wsclient

import (
	"testing"
	"time"

	"agentctl/protocol/codec"
)

// MA-19, X-11: a dialect may define its own delay, constant or doubling.
func TestADialectsOwnDelays(t *testing.T) {
	own := &dialer{dialect: &codec.Dialect{Retry: codec.RetryPolicy{Delay: 3 * time.Second}}}
	doubling := &dialer{
		dialect:      own.dialect,
		codecOptions: codec.ClientOptions{Options: map[string]string{"backoff": "exponential"}},
	}
	for i, want := range []time.Duration{3, 6, 12, 24, 48} {
		if got := own.delay(i+1, 0.5); got != 3*time.Second {
			t.Errorf("attempt %d: %s", i+1, got)
		}
		if got := doubling.delay(i+1, 0.5); got != want*time.Second {
			t.Errorf("attempt %d: %s, want %ds", i+1, got, want)
		}
	}
	if got := doubling.delay(1000, 0); got <= 0 || got > 4*time.Minute {
		t.Errorf("attempt 1000: %s", got)
	}
	if got := (&dialer{dialect: &codec.Dialect{}}).delay(1, 0); got != firstDelay {
		t.Errorf("a dialect without a delay: %s", got)
	}
}
