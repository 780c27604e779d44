package server

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// noDeadline hides the deadline of a test, which a synctest bubble has passed.
type noDeadline struct{ testing.TB }

func bubble(t *testing.T, f func(t *testing.T, w *testServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newTestServer(t)) })
}

// For any acknowledgements of a client, its unacknowledged bytes stay within the window or are one
// event, and it receives everything.
func TestWindowBoundsWhatIsUnacknowledged(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		ids := []string{w.runTurn("some"), w.runTurn("few"), w.runTurn("some")}
		rapid.Check(noDeadline{t}, func(rt *rapid.T) {
			c := w.dial().collect()
			defer c.ws.CloseNow()
			window := rapid.SampledFrom([]int64{1, 300, 5000, 70_000, 300_000}).Draw(rt, "window")
			c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: window})
			at := map[string]uint64{}
			end := map[string]uint64{}
			var unacked []received
			data := subscribeDataRaw()
			data.Raw = rapid.Bool().Draw(rt, "raw")
			for _, id := range ids {
				end[id] = result[protocol.SubscribeResult](
					c.testClient,
					c.ask(protocol.DoSubscribe, id, data),
				).Position.Seq
			}
			for rounds := 0; ; rounds++ {
				for _, a := range c.all() {
					if a.Durable() {
						at[a.Session] = follows(t, at[a.Session], []serverMessage{a.serverMessage})
						unacked = append(unacked, a)
					}
				}
				bytes := int64(0)
				for _, a := range unacked {
					bytes += a.size
				}
				if bytes > window && len(unacked) > 1 {
					rt.Fatalf("%d events of %d bytes are unacknowledged, the window is %d", len(unacked), bytes, window)
				}
				done := true
				for _, id := range ids {
					done = done && at[id] == end[id]
				}
				switch {
				case done:
					return
				case len(unacked) == 0:
					rt.Fatalf("no events: at %v of %v", at, end)
				}
				n := len(unacked) // acknowledge everything in one command, or a part of it first
				if rounds < 50 && rapid.Bool().Draw(rt, "some") {
					n = rapid.IntRange(1, n).Draw(rt, "acks")
				}
				last := map[string]uint64{}
				for _, a := range unacked[:n] {
					last[a.Session] = a.Seq
				}
				for id, seq := range last {
					c.send(protocol.DoAck, id, protocol.AckData{Seq: seq})
				}
				unacked = unacked[n:]
			}
		})
	})
}

func TestAckCountsOnlyWhatWasSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id, other := w.runTurn("much"), w.runTurn("few")
		c := w.dial().collect()
		c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: 1000})
		c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		seen := func() uint64 {
			list, _ := events(c.all(), id)
			if len(list) == 0 {
				return 0
			}
			return list[len(list)-1].Seq
		}
		last := seen()
		for _, ack := range []struct {
			name string
			id   string
			seq  uint64
		}{
			{"0", id, 0},
			{"a session that it does not follow", other, last},
		} {
			c.send(protocol.DoAck, ack.id, protocol.AckData{Seq: ack.seq})
			if at := seen(); at != 0 {
				t.Errorf("an ack of %s released events up to %d", ack.name, at)
			}
		}
		c.send(protocol.DoAck, id, protocol.AckData{Seq: math.MaxUint64})
		next := seen()
		if next == 0 || next > last+10 {
			t.Errorf("an ack beyond the end released events up to %d after %d", next, last)
		}
		c.send(protocol.DoAck, id, protocol.AckData{Seq: last}) // again: older than the last
		if at := seen(); at != 0 {
			t.Errorf("an old ack released events up to %d", at)
		}
	})
}

func TestClientWithoutAcksHasNoWindow(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("large")
		c := w.dial().collect()
		c.ask(protocol.DoHello, "", protocol.HelloData{Window: 1000})
		c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		if list, bytes := events(c.all(), id); list[len(list)-1].Type != protocol.TurnEnded || bytes < 2<<20 {
			t.Errorf("got %d events of %d bytes", len(list), bytes)
		}
		w.server.mu.Lock()
		defer w.server.mu.Unlock()
		for conn := range w.server.conns {
			conn.mu.Lock()
			for _, sub := range conn.subs {
				if conn.unacked != 0 || len(sub.marks) != 0 {
					t.Errorf("%d bytes and %d writes unacknowledged", conn.unacked, len(sub.marks))
				}
			}
			conn.mu.Unlock()
		}
	})
}

func TestEndOfASubscriptionGivesItsWindowBack(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id, other := w.runTurn("much"), w.runTurn("few")
		c := w.dial().collect()
		c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: 1000})
		for _, end := range []func(){
			func() { c.ask(protocol.DoUnsubscribe, id, nil) },
			func() {
				c.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
				c.ask(protocol.DoUnsubscribe, id, nil)
			},
		} {
			c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
			c.all()
			end()
			c.ask(protocol.DoSubscribe, other, subscribeDataRaw())
			if list, _ := events(c.all(), other); len(list) == 0 {
				t.Error("no events of the other session")
			}
			c.ask(protocol.DoUnsubscribe, other, nil)
		}
	})
}

func TestLagIsToldToOthers(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		slow, other := w.dial().collect(), w.dial().collect()
		slow.ask(protocol.DoHello, "", protocol.HelloData{Name: "slow", Acks: true, Window: 1000})
		slow.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		other.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		other.ask(protocol.DoSend, id, protocol.SendData{Text: "much"})
		time.Sleep(3 * time.Second)
		lag := ofType(other.all(), protocol.ClientLag)
		if len(lag) == 0 {
			t.Fatal("no client.lag")
		}
		d := decode[protocol.Client](t, lag[len(lag)-1])
		if d.By.Name != "slow" || d.LagEvents < 2000 || d.LagBytes == 0 || d.LagBytes > 1000 {
			t.Errorf("lag %+v", d)
		}
		for range 10000 { // slow acknowledges and catches up
			list, _ := events(slow.all(), id)
			if len(list) == 0 {
				break
			}
			slow.send(protocol.DoAck, id, protocol.AckData{Seq: list[len(list)-1].Seq})
		}
		time.Sleep(3 * time.Second)
		lag = ofType(other.all(), protocol.ClientLag)
		if len(lag) == 0 {
			t.Fatal("no client.lag after catching up")
		}
		if d := decode[protocol.Client](t, lag[len(lag)-1]); d.LagEvents != 0 || d.LagBytes != 0 {
			t.Errorf("lag %+v", d)
		}
	})
}

func TestPresenceIsTold(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("few")
		first := w.dial().collect()
		first.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		first.all()
		for _, leave := range []struct {
			name string
			do   func(*collector)
		}{
			{"unsubscribe", func(p *collector) { p.ask(protocol.DoUnsubscribe, id, nil) }},
			{"close", func(p *collector) { _ = p.ws.Close(1000, "") }},
			{"cut", func(p *collector) { _ = p.ws.CloseNow() }},
		} {
			second := w.dial().collect()
			connection := result[protocol.HelloResult](
				second.testClient,
				second.ask(protocol.DoHello, "", protocol.HelloData{Name: "grace", Agent: "test/1"}),
			).Connection
			second.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
			attached := ofType(first.all(), protocol.ClientAttached)
			if len(attached) != 1 {
				t.Fatalf("%s: %d client.attached", leave.name, len(attached))
			}
			if d := decode[protocol.Client](t, attached[0]); d.Client != connection || d.By.Name != "grace" ||
				d.Agent != "test/1" {
				t.Errorf("attached %+v", d)
			}
			leave.do(second)
			detached := ofType(first.all(), protocol.ClientDetached)
			if len(detached) != 1 || decode[protocol.Client](t, detached[0]).Client != connection {
				t.Errorf("after %s: detached %v", leave.name, detached)
			}
		}
	})
}

func TestEditHoldEndsThirtySecondsAfterItsConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		editor, other := w.dial().collect(), w.dial().collect()
		id := result[protocol.CreateResult](
			editor.testClient,
			editor.ask(protocol.DoCreate, "", protocol.CreateData{Prompt: "hang"}),
		).Session
		editor.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		other.ask(protocol.DoSubscribe, id, protocol.SubscribeData{})
		sent := result[protocol.SendResult](
			editor.testClient,
			editor.ask(protocol.DoSend, id, protocol.SendData{Text: "next"}),
		)
		if m := editor.ask(protocol.DoQueueHold, id,
			protocol.QueueHoldData{MessageID: sent.MessageID}); m.Error != nil {
			t.Fatal(m.Error)
		}
		time.Sleep(time.Hour) // its connection lives: no timeout
		if released := ofType(other.all(), protocol.QueueReleased); len(released) != 0 {
			t.Error("the hold ended while its connection lived")
		}
		_ = editor.ws.CloseNow()
		time.Sleep(29 * time.Second)
		if released := ofType(other.all(), protocol.QueueReleased); len(released) != 0 {
			t.Error("the hold ended before its time")
		}
		time.Sleep(2 * time.Second)
		if released := ofType(other.all(), protocol.QueueReleased); len(released) != 1 {
			t.Errorf("%d queue.released 31 s after the connection", len(released))
		}
	})
}

// Large events do not delay a client whose window has room for them.
func TestWindowIsUsed(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("large")
		c := w.dial().collect()
		const window = 1 << 20
		c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: window})
		c.ask(
			protocol.DoSubscribe,
			id,
			protocol.SubscribeData{Position: &protocol.Position{}},
		) // folded: 128 KiB at a time
		if _, bytes := events(c.all(), id); bytes < window-protocol.MaxEvent || bytes > window {
			t.Errorf("%d bytes received, the window is %d", bytes, window)
		}
	})
}
