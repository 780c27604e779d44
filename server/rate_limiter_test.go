package server

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// AL-29: commands over the rate are refused, only to their sender, until the next second; acks do
// not count.
func TestTooManyCommandsASecondAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, withLimits(Limits{Rate: 10}))
		fast, slow := w.dial().collect(), w.dial().collect() // each has sent hello
		ping := func(c *collector) protocol.Code {
			if e := c.ask(protocol.DoPing, "", nil).Error; e != nil {
				if e.Limit != 10 {
					t.Errorf("refused with %+v", e)
				}
				return e.Code
			}
			return ""
		}
		fresh := w.dial().collect()
		for i := range 12 {
			if got, want := ping(fresh), i >= 10; (got != "") != want {
				t.Errorf("command %d of the burst: %q", i, got)
			}
		}
		time.Sleep(time.Minute) // must not raise the burst
		for i := range 30 {
			want := protocol.Code("")
			if i >= 10 {
				want = protocol.CodeTooMany
			}
			if got := ping(fast); got != want {
				t.Fatalf("command %d: %q, want %q", i, got, want)
			}
		}
		if got := ping(slow); got != "" {
			t.Errorf("another client: %s", got)
		}
		for range 5 {
			time.Sleep(100 * time.Millisecond)
			if got := ping(fast); got != "" {
				t.Errorf("a second later: %s", got)
			}
			if got := ping(fast); got != protocol.CodeTooMany {
				t.Errorf("immediately after: %q", got)
			}
		}
	})
}
