package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/server/session"
	"agentctl/wsclient"
)

// All faults together: broken connections, a failing store, server restarts, and users who send and
// decide. Every accepted message gets one turn, in order, and all clients end with the same state.
func TestInChaosEverythingAcceptedHasItsTurnAndAllSeeTheSame(t *testing.T) {
	for seed := range uint64(thorough.Rounds(2, 4)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testChaos(t, seed) })
		})
	}
}

func testChaos(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 9))
	var failing atomic.Bool
	var lines []string
	if seed%2 == 0 {
		lines = append(lines, `{"resumes":true}`)
	}
	lines = append(
		lines,
		`{"on":"*"}`,
		`{"think":"a b c d","delay":"20ms"}`,
		`{"burst":40,"delay":"10ms","parts":2}`,
		`{"tool":"t","output":"x y z","delay":"50ms"}`,
		`{"ask":"command","command":"make {n}","then":[{"say":"yes"}],"else":[{"say":"no"}]}`,
		`{"say":"end of {message}"}`,
	)
	storeSeed := rand.New(rand.NewPCG(seed, 10))
	w := newTestServerWithStore(t, func(s session.Store) session.Store {
		return &recordingStore{
			Store: s,
			fails: func() bool { return failing.Load() && storeSeed.IntN(25) == 0 },
		} // only one commit runs at a time
	}, lines...)
	var proxies []*faultyProxy
	faulty := func(name string) *wsclient.Client {
		s := newFaultyProxy(w, seed*100+uint64(len(proxies)))
		proxies = append(proxies, s)
		return w.client(name, func(o *wsclient.Options) { o.Dial, o.Rand = s.Dial, func() float64 { return 0.5 } })
	}
	ann, decider := faulty("ann"), faulty("decider")
	id := w.create(ann)
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour)
	defer cancel()

	// Three observers, each until the turn of the last message.
	const last = "the last"
	var all []<-chan *observer
	for i, o := range []wsclient.SubscribeOptions{{Since: logStart(), Raw: true}, {Since: logStart()}, {}} {
		c, ended := faulty(fmt.Sprint("watcher ", i)), false
		all = append(all, async(func() *observer {
			return observe(ctx, c, id, o, func(e *protocol.Event) bool {
				var m protocol.MessageUserData
				if e.Type == protocol.MessageUser && e.Decode(&m) == nil {
					ended = m.Text == last
				}
				return ended && e.Type == protocol.TurnEnded
			})
		}))
	}
	deciding, stopDeciding := context.WithCancel(ctx)
	decided := async(func() error {
		for it, err := range decider.Subscribe(id, wsclient.SubscribeOptions{}).Events(deciding) {
			if err != nil {
				return err
			}
			if it.Event == nil || it.Event.Type != protocol.ApprovalRequested {
				continue
			}
			var a protocol.Approval
			if err := it.Event.Decode(&a); err != nil {
				return err
			}
			_, err := retryStorageErrors[protocol.ApproveResult](
				deciding, decider, protocol.DoApprove, id,
				protocol.ApproveData{Request: a.Request, Decision: protocol.AllowOnce}, a.Request,
			)
			if code := protocol.CodeOf(err); err != nil && deciding.Err() == nil && code != protocol.CodeConflict &&
				code != protocol.CodeNotFound {
				return fmt.Errorf("approve: %w", err)
			}
		}
		return nil
	})

	failing.Store(true)
	var accepted []string
	for i := range 12 {
		text := fmt.Sprint("message ", i)
		if _, err := retryStorageErrors[protocol.SendResult](ctx, ann, protocol.DoSend, id,
			protocol.SendData{Text: text}, text); err != nil {
			t.Fatalf("send: %v", err)
		}
		accepted = append(accepted, text)
		time.Sleep(time.Duration(rng.IntN(2000)) * time.Millisecond)
		if rng.IntN(3) == 0 {
			w.stop()
			time.Sleep(time.Duration(rng.IntN(1000)) * time.Millisecond)
			w.start()
		}
		if _, err := retryStorageErrors[protocol.QueueReleaseResult](ctx, ann, protocol.DoQueueRelease, id, nil,
			fmt.Sprint("release ", i)); err != nil {
			t.Fatalf("release: %v", err)
		}
	}
	failing.Store(false)
	for _, s := range proxies {
		s.mu.Lock()
		s.healthy = true
		s.mu.Unlock()
	}
	for {
		s := do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil)
		if s.Status == protocol.Idle && len(s.Snapshot.State.Queue) == 0 {
			break
		}
		if ctx.Err() != nil {
			t.Fatalf("stuck: %+v", s)
		}
		time.Sleep(time.Second)
		do[protocol.QueueReleaseResult](t, ann, protocol.DoQueueRelease, id, nil)
	}
	w.send(ann, id, last)
	var want *observer
	for i, c := range all {
		got := <-c
		if got.err != nil {
			t.Fatalf("watcher %d: %v", i, got.err)
		}
		if want == nil {
			want = got
		}
		if got.next != want.next || string(protocol.MustEncode(got.state)) != string(protocol.MustEncode(want.state)) {
			t.Errorf(
				"watcher %d ends with\n%s\nthe first with\n%s", i, protocol.MustEncode(got.state),
				protocol.MustEncode(want.state),
			)
		}
	}
	stopDeciding()
	if err := <-decided; err != nil {
		t.Error(err)
	}
	var turns []string
	for _, turn := range want.transcript.Turns {
		turns = append(turns, turn.Message.Text)
	}
	if !slices.Equal(turns, append(accepted, last)) {
		t.Errorf("accepted %q, turns of %q", accepted, turns)
	}
	t.Logf("%d events", want.state.Seq)
}

// retryStorageErrors repeats a command with one key while the store fails.
func retryStorageErrors[R any](
	ctx context.Context, c *wsclient.Client, verb protocol.Verb, id string, data any, key string,
) (R, error) {
	cmd := protocol.Command{Command: verb, Session: id, Key: key}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	for {
		var r R
		err := c.Do(ctx, cmd, &r)
		if code := protocol.CodeOf(err); code != protocol.CodeStorage && code != protocol.CodeShuttingDown {
			return r, err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
