package e2e

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// A recordingStore is a slow store that may fail and records what it committed.
type recordingStore struct {
	session.Store
	fails func() bool // reports whether a commit fails without effect

	mu        sync.Mutex
	committed uint64 // last committed seq of the only session
	failed    int
}

var errFull = errors.New("disk full")

func (l *recordingStore) Commit(batches []*eventlog.Batch) error {
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
		l.committed = max(l.committed, b.Last)
	}
	return nil
}

func (l *recordingStore) isCommitted(seq uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return seq <= l.committed
}

func TestNothingIsShownOrAnsweredBeforeItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l *recordingStore
		w := newTestServerWithStore(t, func(s session.Store) session.Store {
			l = &recordingStore{Store: s}
			return l
		}, `{"on":"*"}`, `{"burst":300,"delay":"1ms"}`, `{"ask":"command","command":"c","then":[{"say":"yes"}]}`)
		ann := w.client("ann")
		id := w.create(ann)
		shown := async(func() *observer {
			c := w.client("bob")
			return observe(
				t.Context(),
				c,
				id,
				wsclient.SubscribeOptions{Since: logStart()},
				func(e *protocol.Event) bool {
					if !l.isCommitted(e.Seq) {
						t.Errorf("shown event %d %s before it was durable", e.Seq, e.Type)
					}
					return e.Type == protocol.TurnEnded
				},
			)
		})
		if sent := w.send(ann, id, "go"); !l.isCommitted(sent.Seq) {
			t.Errorf("answered before event %d was durable", sent.Seq)
		}
		late := mustObserve(
			t, w.client("eve"), id, wsclient.SubscribeOptions{}, eventOfType(protocol.ApprovalRequested),
		)
		if at := late.attached[0].Position; !l.isCommitted(at.Seq) {
			t.Errorf("attached at %v before that was durable", at)
		}
		do[protocol.ApproveResult](t, ann, protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
		if got := <-shown; got.err != nil {
			t.Error(got.err)
		}
	})
}

func TestAFailingStoreRevokesNothingThatWasShown(t *testing.T) {
	for seed := range uint64(thorough.Rounds(2, 4)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				rng, failing := rand.New(rand.NewPCG(seed, 5)), false
				var l *recordingStore
				w := newTestServerWithStore(t, func(s session.Store) session.Store {
					l = &recordingStore{Store: s, fails: func() bool {
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
				follow := func(name string, raw bool) <-chan *observer {
					c := w.client(name)
					ended := false
					return async(func() *observer {
						return observe(
							t.Context(),
							c,
							id,
							wsclient.SubscribeOptions{Since: logStart(), Raw: raw},
							func(e *protocol.Event) bool {
								var m protocol.MessageUserData
								if e.Type == protocol.MessageUser && e.Decode(&m) == nil {
									ended = m.Text == last
								}
								return ended && e.Type == protocol.TurnEnded
							},
						)
					})
				}
				raw, folded := follow("raw", true), follow("folded", false)
				fail(true)
				var accepted []string
				for i := range 30 {
					text := fmt.Sprint("message ", i)
					cmd := protocol.Command{
						Command: protocol.DoSend,
						Session: id,
						Key:     text,
						Data:    protocol.MustEncode(protocol.SendData{Text: text}),
					}
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
				if a.encode(t) != b.encode(t) {
					t.Errorf("raw\n%s\nfolded\n%s", a.encode(t), b.encode(t))
				}
				var turns []string
				for _, turn := range a.transcript.Turns {
					turns = append(turns, turn.Message.Text)
				}
				if got, want := fmt.Sprint(turns), fmt.Sprint(append(accepted, last)); got != want {
					t.Errorf("accepted %s, turns of %s", want, got)
				}
				if l.failed == 0 {
					t.Error("nothing failed")
				}
				again := mustObserve(
					t, w.client("eve"), id, wsclient.SubscribeOptions{Since: logStart(), Raw: true},
					reached(a.state.Seq),
				)
				if fmt.Sprint(again.raw) != fmt.Sprint(a.raw) {
					t.Error("the log differs from what was shown")
				}
			})
		})
	}
}
