package wsclient

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// A serverAction is one step of an unreliable server.
type serverAction struct {
	Kind string // raw, fold: send events; back, skip: move the cursor; drop, bad: end the connection
	N    uint64
}

// An unreliableServer serves one log of n events with faults, but never fails twice at the same
// position.
type unreliableServer struct {
	f      *fakeServer
	p      *serverConn
	n      uint64
	cursor uint64
	raw    bool
}

// connect accepts the next connection and its subscribe.
func (u *unreliableServer) connect() {
	u.p = u.f.acceptHello()
	u.answerSubscribe(u.p.nextCommand(protocol.DoSubscribe))
}

func (u *unreliableServer) answerSubscribe(c protocol.Command) {
	var d protocol.SubscribeData
	_ = c.DecodeData(&d)
	r := protocol.SubscribeResult{Session: "s1", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "e"}}
	if d.Position != nil {
		r.Mode, r.After = protocol.ModeResume, *d.Position
	}
	u.cursor, u.raw = r.After.Seq, d.Raw
	u.p.answer(c, r)
}

// handleReaction handles the client's reaction to the last action. It returns true if the client
// subscribed again.
func (u *unreliableServer) handleReaction() bool {
	synctest.Wait()
	select {
	case c, ok := <-u.p.commands:
		if ok {
			u.answerSubscribe(c)
		} else {
			u.connect()
		}
		return true
	default:
		return false
	}
}

func (u *unreliableServer) perform(a serverAction) {
	last := min(u.cursor+a.N, u.n)
	switch a.Kind {
	case "raw":
		u.p.sendDeltas(u.cursor+1, last)
		u.cursor = last
	case "fold":
		if u.raw || last <= u.cursor+1 {
			u.p.sendDeltas(u.cursor+1, last)
		} else {
			u.p.write(string(delta(last, u.cursor+1).AppendJSON(nil)))
		}
		u.cursor = last
	case "back":
		u.cursor -= min(a.N, u.cursor)
	case "skip":
		if last = min(last, u.n-1); last > u.cursor {
			u.p.sendDeltas(last+1, last+1)
			u.cursor = last + 1
		}
	case "drop":
		_ = u.p.ws.CloseNow()
	case "bad":
		u.p.write(`{"bad":`)
	}
	if u.handleReaction() {
		u.perform(serverAction{"raw", 1})
	}
}

func TestEveryEventComesOnceWhateverTheServerDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Uint64Range(1, 60).Draw(rt, "events")
		actions := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) serverAction {
			return serverAction{
				rapid.SampledFrom([]string{"raw", "raw", "fold", "fold", "back", "skip", "drop", "bad"}).
					Draw(rt, "kind"),
				rapid.Uint64Range(1, 9).Draw(rt, "n"),
			}
		})).Draw(rt, "actions")
		var want, got strings.Builder
		for seq := range n {
			fmt.Fprintf(&want, "%d ", seq+1)
		}
		var ended error
		synctest.Test(t, func(t *testing.T) {
			f := newFakeServer(t)
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
			u := &unreliableServer{f: f, n: n}
			u.connect()
			for _, a := range actions {
				synctest.Wait()
				select {
				case <-over:
					return
				default:
					u.perform(a)
				}
			}
			u.perform(serverAction{"raw", n})
			u.perform(serverAction{"raw", n})
			_ = c.Close()
			<-over
		})
		if ended != nil || got.String() != want.String() {
			rt.Fatalf("ended with %v after %q, want %q", ended, got.String(), want.String())
		}
	})
}
