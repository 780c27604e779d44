package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// A ledger is a store that takes its time, may fail, and knows what it has taken.
type ledger struct {
	session.Store
	fails func() bool // without having taken anything

	mu     sync.Mutex
	upto   uint64 // of the one session
	failed int
}

var errFull = errors.New("disk full")

func (l *ledger) Commit(batches []*session.Batch) error {
	time.Sleep(20 * time.Millisecond)
	if l.fails != nil && l.fails() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.failed++
		return errFull
	}
	if err := l.Store.Commit(batches); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range batches {
		l.upto = max(l.upto, b.Last)
	}
	return nil
}

func (l *ledger) has(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return seq <= l.upto
}

func TestNothingIsShownOrAnsweredBeforeItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *ledger
		w := openOn(t, func(s session.Store) session.Store {
			l = &ledger{Store: s}
			return l
		}, `{"on":"*"}`, `{"burst":300,"delay":"1ms"}`, `{"ask":"command","command":"c","then":[{"say":"yes"}]}`)
		ann := w.client("ann")
		id := w.create(ann)
		shown := async(func() *witness {
			c := w.client("bob")
			return watch(t.Context(), c, id, wsclient.SubscribeOptions{Since: beginning()}, func(e *protocol.Event) bool {
				if !l.has(e.Seq) {
					t.Errorf("shown event %d %s before it was durable", e.Seq, e.Type)
				}
				return e.Type == protocol.TurnEnded
			})
		})
		if sent := w.send(ann, id, "go"); !l.has(sent.Seq) {
			t.Errorf("answered before event %d was durable", sent.Seq)
		}
		late := see(t, w.client("eve"), id, wsclient.SubscribeOptions{}, until(protocol.ApprovalRequested))
		if at := late.attached[0].Position; !l.has(at.Seq) {
			t.Errorf("attached at %v before that was durable", at)
		}
		do[protocol.ApproveResult](t, ann, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
		if got := <-shown; got.err != nil {
			t.Error(got.err)
		}
	})
}

func TestAStoreThatFailsNowAndThenTakesBackNothingThatWasShown(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				rng, failing := rand.New(rand.NewPCG(seed, 5)), false
				var l *ledger
				w := openOn(t, func(s session.Store) session.Store {
					l = &ledger{Store: s, fails: func() bool {
						mu.Lock()
						defer mu.Unlock()
						return failing && rng.IntN(6) == 0
					}}
					return l
				}, `{"on":"*"}`, `{"burst":30,"delay":"3ms"}`, `{"say":"end of {message}"}`)
				fail := func(on bool) {
					mu.Lock()
					defer mu.Unlock()
					failing = on
				}
				ann := w.client("ann")
				id := w.create(ann)
				const last = "the last"
				follow := func(name string, raw bool) <-chan *witness {
					c := w.client(name)
					ended := false
					return async(func() *witness {
						return watch(t.Context(), c, id, wsclient.SubscribeOptions{Since: beginning(), Raw: raw}, func(e *protocol.Event) bool {
							var m protocol.MessageUserData
							if e.Type == protocol.MessageUser && e.Decode(&m) == nil {
								ended = m.Text == last
							}
							return ended && e.Type == protocol.TurnEnded
						})
					})
				}
				raw, folded := follow("raw", true), follow("folded", false)
				fail(true)
				var accepted []string
				for i := range 30 {
					text := fmt.Sprint("message ", i)
					cmd := protocol.Command{Command: protocol.DoSend, Session: id, Key: text, Data: protocol.MustEncode(protocol.SendData{Text: text})}
					for {
						err := ann.Do(t.Context(), cmd, nil)
						if err == nil {
							break
						}
						if protocol.CodeOf(err) != protocol.CodeStorage {
							t.Fatalf("send: %v", err)
						}
						time.Sleep(100 * time.Millisecond)
					}
					accepted = append(accepted, text)
					time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				}
				fail(false)
				time.Sleep(5 * time.Second)
				w.send(ann, id, last)
				a, b := <-raw, <-folded
				if a.err != nil || b.err != nil {
					t.Fatal(a.err, b.err)
				}
				if a.folded(t) != b.folded(t) {
					t.Errorf("raw\n%s\nfolded\n%s", a.folded(t), b.folded(t))
				}
				var turns []string
				for _, turn := range a.transcript.Turns {
					turns = append(turns, turn.Message.Text)
				}
				if got, want := fmt.Sprint(turns), fmt.Sprint(append(accepted, last)); got != want {
					t.Errorf("accepted %s, there are turns of %s", want, got)
				}
				if l.failed == 0 {
					t.Error("nothing failed")
				}
				again := see(t, w.client("eve"), id, wsclient.SubscribeOptions{Since: beginning(), Raw: true}, through(a.state.Seq))
				if fmt.Sprint(again.raw) != fmt.Sprint(a.raw) {
					t.Error("what was shown is not what is there")
				}
			})
		})
	}
}
