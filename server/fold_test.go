package server

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
)

// An arrival is an event with the time of its arrival.
type arrival struct {
	serverMessage
	at time.Duration
}

// arrivals returns the durable events that a client receives within d, by their time from now, in
// steps of a millisecond.
func (p *collector) arrivals(d time.Duration) (list []arrival) {
	p.t.Helper()
	start := time.Now()
	for ; time.Since(start) <= d; time.Sleep(time.Millisecond) {
		for _, m := range p.all() {
			if m.Error != nil {
				p.t.Error(m.Error)
			}
			if m.Durable() {
				list = append(list, arrival{m.serverMessage, time.Since(start)})
			}
		}
	}
	return list
}

// The first delta arrives immediately, further deltas together at the end of each interval, and any
// other event immediately, after the deltas before it.
func TestLiveDeltasAreJoinedForAnInterval(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial().collect()
		limits := result[protocol.HelloResult](c.testClient, c.ask(protocol.DoHello, "", nil)).Limits
		if limits.FoldMS != 1000 {
			t.Errorf("fold_ms is at most %d, want 1000", limits.FoldMS)
		}
		id := w.dial().create("")
		result[protocol.SubscribeResult](
			c.testClient, c.ask(protocol.DoSubscribe, id, protocol.SubscribeData{FoldMS: 100}),
		)
		c.all()
		c.send(protocol.DoSend, id, protocol.SendData{Text: "words before a request"}) // a word each 30 ms
		var got []string
		for _, a := range c.arrivals(time.Second) {
			what := string(a.Type)
			if a.Type == protocol.TextDelta {
				what = strings.TrimSpace(decode[protocol.PartDeltaData](t, a.serverMessage).Text)
			}
			if a.at > 0 {
				got = append(got, a.at.String()+" "+what)
			}
		}
		want := []string{
			"30ms 0 ..", "130ms 1 ..2 ..3 ..", "230ms 4 ..5 ..6 ..", // 0 comes without delay
			"240ms 7 ..", "240ms text.end", "240ms approval.requested",
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Events of a subscription without the interval, or for raw events, come one by one.
func TestLiveDeltasAreJoinedOnlyOnRequest(t *testing.T) {
	for _, d := range []protocol.SubscribeData{{}, {Raw: true, FoldMS: 100}, {FoldMS: -1}} {
		bubble(t, func(t *testing.T, w *testServer) {
			c := w.dial().collect()
			id := w.dial().create("")
			result[protocol.SubscribeResult](c.testClient, c.ask(protocol.DoSubscribe, id, d))
			c.send(protocol.DoSend, id, protocol.SendData{Text: "words before a request"})
			deltas := 0
			for _, a := range c.arrivals(time.Second) {
				if a.FirstSeq != 0 {
					t.Errorf("%+v: joined events %d..%d", d, a.FirstSeq, a.Seq)
				}
				if a.Type == protocol.TextDelta {
					deltas++
				}
			}
			if deltas != 8 {
				t.Errorf("%+v: %d deltas, want 8", d, deltas)
			}
		})
	}
}

// A client that is behind gets all without waiting: of an agent that writes more than one write of
// a connection holds, it waits for one interval.
func TestAFastAgentIsDelayedByOneInterval(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		c := w.dial().collect()
		id := w.dial().create("")
		result[protocol.SubscribeResult](
			c.testClient, c.ask(protocol.DoSubscribe, id, protocol.SubscribeData{FoldMS: 1000}),
		)
		c.send(protocol.DoSend, id, protocol.SendData{Text: "an open flood"})
		bytes, last := 0, time.Duration(0)
		for _, a := range c.arrivals(5 * time.Second) {
			if a.Type == protocol.TextDelta {
				bytes += len(decode[protocol.PartDeltaData](t, a.serverMessage).Text)
				last = a.at
			}
		}
		if bytes != 220_000 || last > 1100*time.Millisecond {
			t.Errorf("%d bytes after %v, want 220,000 after about a second", bytes, last)
		}
	})
}
