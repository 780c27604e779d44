package server

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// AL-29: more commands a second than are allowed are refused, to their sender alone, until there is
// room again; acknowledgements are no commands.
func TestTooManyCommandsASecondAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, limited(Limits{Rate: 10}))
		fast, slow := w.dial().pump(), w.dial().pump() // each said hello
		ping := func(c *pump) protocol.Code {
			if e := c.ask(protocol.DoPing, "", nil).Error; e != nil {
				if e.Limit != 10 {
					t.Errorf("refused with %+v", e)
				}
				return e.Code
			}
			return ""
		}
		fresh := w.dial().pump()
		for i := range 12 {
			if got, want := ping(fresh), i >= 10; (got != "") != want {
				t.Errorf("command %d of who just came: %q", i, got)
			}
		}
		time.Sleep(time.Minute) // does not add up to more than a second's worth
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
				t.Errorf("after a while: %s", got)
			}
			if got := ping(fast); got != protocol.CodeTooMany {
				t.Errorf("the next at once: %q", got)
			}
		}
	})
}
