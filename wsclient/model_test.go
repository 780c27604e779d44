package wsclient

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A misdeed is what an unreliable server does before it goes on from its cursor.
type misdeed struct {
	Kind string // raw, fold: events; back, skip: moves the cursor; drop, bad: costs the connection
	N    uint64
}

// An unreliable server serves one log of n events badly, but never fails twice at the same place.
type unreliable struct {
	f      *fake
	p      *peer
	n      uint64
	cursor uint64
	raw    bool
}

// connect takes the next connection, with the subscribe on it.
func (u *unreliable) connect() { u.p = u.f.open(); u.subscribed(u.p.next(protocol.DoSubscribe)) }

func (u *unreliable) subscribed(c protocol.Command) {
	var d protocol.SubscribeData
	_ = c.DecodeData(&d)
	r := protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "e"}}
	if d.Position != nil {
		r.Mode, r.After = protocol.ModeResume, *d.Position
	}
	u.cursor, u.raw = r.After.Seq, d.Raw
	u.p.answer(c, r)
}

// complained answers what the client has to say about the last deed; true when it had to ask again.
func (u *unreliable) complained() bool {
	synctest.Wait()
	select {
	case c, ok := <-u.p.commands:
		if ok {
			u.subscribed(c)
		} else {
			u.connect()
		}
		return true
	default:
		return false
	}
}

func (u *unreliable) serve(d misdeed) {
	last := min(u.cursor+d.N, u.n)
	switch d.Kind {
	case "raw":
		u.p.events(u.cursor+1, last)
		u.cursor = last
	case "fold":
		if u.raw || last <= u.cursor+1 {
			u.p.events(u.cursor+1, last)
		} else {
			u.p.say(string(delta(last, u.cursor+1).AppendJSON(nil)))
		}
		u.cursor = last
	case "back":
		u.cursor -= min(d.N, u.cursor)
	case "skip":
		if last = min(last, u.n-1); last > u.cursor {
			u.p.events(last+1, last+1)
			u.cursor = last + 1
		}
	case "drop":
		_ = u.p.conn.CloseNow()
	case "bad":
		u.p.say(`{"bad":`)
	}
	if u.complained() {
		u.serve(misdeed{"raw", 1})
	}
}

func TestEveryEventComesOnceWhateverTheServerDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Uint64Range(1, 60).Draw(rt, "events")
		deeds := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) misdeed {
			return misdeed{
				rapid.SampledFrom([]string{"raw", "raw", "fold", "fold", "back", "skip", "drop", "bad"}).Draw(rt, "kind"),
				rapid.Uint64Range(1, 9).Draw(rt, "n"),
			}
		})).Draw(rt, "deeds")
		var want, got strings.Builder
		for seq := range n {
			fmt.Fprintf(&want, "%d ", seq+1)
		}
		var ended error
		synctest.Test(t, func(t *testing.T) {
			f := newFake(t)
			defer f.close()
			c := f.client(Options{})
			defer c.Close()
			s := c.Subscribe("s1", SubscribeOptions{})
			over := make(chan struct{})
			go func() {
				defer close(over)
				for it, err := range s.Events(t.Context()) {
					if ended = err; err != nil {
						return
					}
					if it.Event == nil {
						continue
					}
					var d protocol.PartDeltaData
					_ = it.Event.Decode(&d)
					if got.WriteString(d.Text); it.Event.Seq == n {
						return
					}
				}
			}()
			u := &unreliable{f: f, n: n}
			u.connect()
			for _, d := range deeds {
				synctest.Wait()
				select {
				case <-over:
					return
				default:
					u.serve(d)
				}
			}
			u.serve(misdeed{"raw", n})
			u.serve(misdeed{"raw", n})
			_ = c.Close()
			<-over
		})
		if ended != nil || got.String() != want.String() {
			rt.Fatalf("ended with %v after %q, want %q", ended, got.String(), want.String())
		}
	})
}
