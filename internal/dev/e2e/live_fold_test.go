package e2e

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// noDeadline hides the deadline of a test, which a synctest bubble has passed.
type noDeadline struct{ testing.TB }

// writingTurn generates a turn that writes for some time, with many runs of deltas.
func writingTurn() *rapid.Generator[[]string] {
	burst := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf(
			`{"burst":%d,"parts":%d,"size":%d,"kind":"%s","delay":"%dms"}`,
			rapid.IntRange(1, 80).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "parts"),
			rapid.IntRange(0, 300).Draw(t, "size"), rapid.SampledFrom([]string{"text", "reasoning"}).Draw(t, "kind"),
			rapid.IntRange(0, 60).Draw(t, "delay"),
		)
	})
	turn := anyTurn()
	return rapid.Custom(func(t *rapid.T) []string {
		var steps []string
		for range rapid.IntRange(1, 2).Draw(t, "rounds") {
			steps = append(append(steps, burst.Draw(t, "burst")), turn.Draw(t, "steps")...)
		}
		return steps
	})
}

// A client whose server joins live deltas ends with the state and the transcript of one that gets
// each delta, wherever its connection is cut.
func TestLiveFoldsAndRawEventsGiveTheSameStateAndTranscript(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"x"}`)
		proxy := newCutProxy(w)
		ann, bob, eve := w.client("ann"), w.client("bob"), w.client("eve", func(o *wsclient.Options) {
			o.Dial = proxy.Dial
		})
		n, all, few := 0, 0, 0
		rapid.Check(noDeadline{t}, func(t *rapid.T) {
			n++
			agent := fmt.Sprint("agent ", n)
			w.agents.add(t, agent, append([]string{`{"on":"*"}`}, writingTurn().Draw(t, "turn")...)...)
			id := do[protocol.CreateResult](t, ann, protocol.DoCreate, "", protocol.CreateData{Agent: agent}).Session
			follow := func(c *wsclient.Client, o wsclient.SubscribeOptions) <-chan *observer {
				return async(func() *observer { return observe(t.Context(), c, id, o, turnsEnded(2)) })
			}
			ms := rapid.SampledFrom([]int{1, 20, 100, 700}).Draw(t, "fold")
			raw := follow(bob, wsclient.SubscribeOptions{Since: logStart(), Raw: true})
			folded := follow(eve, wsclient.SubscribeOptions{
				Since: logStart(), Fold: time.Duration(ms) * time.Millisecond,
			})
			w.send(ann, id, "one")
			w.send(ann, id, "two")
			for range rapid.IntRange(0, 3).Draw(t, "cuts") {
				time.Sleep(time.Duration(rapid.IntRange(1, 3000).Draw(t, "until")) * time.Millisecond)
				proxy.cut()
				time.Sleep(time.Duration(rapid.IntRange(1, 500).Draw(t, "down")) * time.Millisecond)
				proxy.restore()
			}
			a, b := <-raw, <-folded
			if a.err != nil || b.err != nil {
				t.Fatalf("raw: %v; folded: %v", a.err, b.err)
			}
			all, few = all+len(a.raw), few+len(b.raw)
			if a.encode(t) != b.encode(t) {
				t.Errorf("folded:\n%s\nraw:\n%s", b.encode(t), a.encode(t))
			}
			if a, b := partTexts(t, a.raw), partTexts(t, b.raw); a != b {
				t.Errorf("raw text %q, folded %q", a, b)
			}
		})
		if few > all*2/3 {
			t.Errorf("%d events in %d lines: want two thirds of that at most", all, few)
		}
	})
}

// A countedConn counts the bytes of a connection.
type countedConn struct {
	net.Conn
	read, written *atomic.Int64
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func (c countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// A shown session of a server on another machine costs its client less than 8 KB a second, in both
// directions, while an agent writes 500 words a second.
func TestAShownSessionIsCheapOnASlowLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"on":"*"}`, `{"burst":20000,"size":6,"delay":"2ms"}`)
		for _, tt := range []struct {
			fold        time.Duration
			least, most int64 // events a second
			bytes       int64
		}{
			{0, 490, 510, 100_000},
			{100 * time.Millisecond, 9, 10, 8000}, // as cmd/agentctl has it for its screen
			{time.Second, 1, 2, 8000},             // what waits is no lag
		} {
			events, read, written := w.linkCost(t, tt.fold)
			t.Logf("fold %v: %d events, %d bytes received, %d sent a second", tt.fold, events, read, written)
			if events < tt.least || events > tt.most || read+written > tt.bytes {
				t.Errorf("want %d to %d events and at most %d bytes", tt.least, tt.most, tt.bytes)
			}
		}
	})
}

// linkCost returns the events, and the bytes of the connection, that a client with a subscription
// receives and sends a second while an agent writes.
func (w *testServer) linkCost(t *testing.T, fold time.Duration) (events, read, written int64) {
	t.Helper()
	var down, up, items atomic.Int64
	c := w.client("ann", func(o *wsclient.Options) {
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			conn, err := w.dial(ctx)
			return countedConn{conn, &down, &up}, err
		}
	})
	id := w.create(c)
	ctx, cancel := context.WithCancel(t.Context())
	ended := async(func() error {
		for it, err := range c.Subscribe(id, wsclient.SubscribeOptions{Fold: fold}).Events(ctx) {
			if err != nil {
				return err
			}
			if it.Event != nil && it.Event.Type == protocol.ClientLag {
				t.Errorf("fold %v: %s", fold, it.Raw)
			}
			items.Add(1)
		}
		return nil
	})
	w.send(c, id, "write")
	time.Sleep(time.Second)
	events, read, written = items.Load(), down.Load(), up.Load()
	const seconds = 10
	time.Sleep(seconds * time.Second)
	events, read, written = items.Load()-events, down.Load()-read, up.Load()-written
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	do[protocol.InterruptResult](t, c, protocol.DoInterrupt, id, protocol.InterruptData{})
	return events / seconds, read / seconds, written / seconds
}
