package server

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

func TestSubscribeBeginsWithTheLastTurnBoundary(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	c := w.dial()
	c.ask(protocol.DoSend, id, protocol.SendData{Text: "hang"})
	r := c.subscribe(id, "")
	if r.Mode != protocol.ModeSnapshot || r.Snapshot == nil || r.Snapshot.State.Turns != 1 ||
		r.Snapshot.State.Turn != nil {
		t.Fatalf("subscribe %+v", r)
	}
	if r.After.Seq != r.Snapshot.State.Seq || r.After.Epoch != r.Snapshot.Epoch {
		t.Errorf("after %v, snapshot at %s:%d", r.After, r.Snapshot.Epoch, r.Snapshot.State.Seq)
	}
	m, before := c.waitForType(protocol.CaughtUp)
	if last := follows(t, r.After.Seq, before); last < r.Position.Seq {
		t.Errorf("caught up at %d, want at least %d", last, r.Position.Seq)
	} else if at := position(t, m); at.Seq != last || at.Epoch != r.Position.Epoch {
		t.Errorf("caught_up at %v, last event %d", at, last)
	}
	if first := before[0]; first.Type != protocol.MessageUser {
		t.Errorf("the first event is %s", first.Type)
	}
}

func position(t testing.TB, m serverMessage) protocol.Position {
	t.Helper()
	var d protocol.CaughtUpData
	must(t, m.Decode(&d))
	return d.Position
}

func TestResumeAtEverySeqIsExact(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	c := w.dial()
	end := c.subscribe(id, "").Position
	c.caughtUp(id)
	for seq := range end.Seq + 1 {
		for _, at := range []string{fmt.Sprint(seq), fmt.Sprintf("%s:%d", end.Epoch, seq)} {
			r := c.subscribe(id, at) // repeatedly on one connection
			if r.Mode != protocol.ModeResume || r.After != (protocol.Position{Epoch: end.Epoch, Seq: seq}) ||
				r.Snapshot != nil ||
				r.Reason != "" {
				t.Fatalf("resume at %s: %+v", at, r)
			}
			if last := follows(t, seq, c.caughtUp(id)); last != end.Seq {
				t.Fatalf("resume at %s ended at %d, want %d", at, last, end.Seq)
			}
		}
	}
}

func TestPositionThatCannotBeServedIsReset(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	c := w.dial()
	end := c.subscribe(id, "").Position
	tests := []struct{ name, at, reason string }{
		{"another epoch", "abc:1", protocol.ResetEpoch},
		{"another epoch at 0", "abc:0", protocol.ResetEpoch},
		{"past the end", fmt.Sprintf("%s:%d", end.Epoch, end.Seq+1), protocol.ResetPastEnd},
		{"far past the end", "18446744073709551615", protocol.ResetPastEnd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := c.subscribe(id, tt.at)
			if r.Mode != protocol.ModeReset || r.Reason != tt.reason || r.Snapshot == nil ||
				r.After.Seq != r.Snapshot.State.Seq {
				t.Fatalf("got %+v, want a reset for %s", r, tt.reason)
			}
			if last := follows(t, r.After.Seq, c.caughtUp(id)); last != end.Seq {
				t.Errorf("caught up at %d, want %d", last, end.Seq)
			}
		})
	}
}

func TestSessionIsNamedByIDNameOrPrefix(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	id := ok[protocol.CreateResult](c, protocol.DoCreate, "", protocol.CreateData{Name: "fix ci"}).Session
	for _, name := range []string{id, "fix ci", id[:5], id[2:6]} {
		if r := c.subscribe(name, ""); r.Session != id {
			t.Errorf("%q is %s, want %s", name, r.Session, id)
		}
		ok[protocol.Empty](c, protocol.DoUnsubscribe, name, nil)
	}
}

func TestCaughtUpComesOnceBeforeWhatIsLive(t *testing.T) {
	w := newTestServer(t)
	c := w.dial()
	id := c.create("gate")
	r := c.subscribe(id, "")
	follows(t, r.After.Seq, c.caughtUp(id))
	w.script.OpenGate("gate")
	_, live := c.waitForType(protocol.TurnEnded)
	for _, m := range live {
		if m.Type == protocol.CaughtUp {
			t.Error("caught_up was sent twice")
		}
	}
	if len(live) == 0 {
		t.Error("no live events")
	}
}

// A client that subscribes repeatedly while the log grows receives each time the events after its
// position, and none of the previous subscription.
func TestSubscribeInMidBurstHasNoGapAndNoRepeat(t *testing.T) {
	w := newTestServer(t)
	id := w.dial().create("endless")
	rapid.Check(t, func(rt *rapid.T) {
		c := w.dial()
		raw := rapid.Bool().Draw(rt, "raw")
		if rapid.Bool().Draw(rt, "acks") {
			c.hello(protocol.HelloData{Acks: true, Window: rapid.Int64Range(1, 1<<17).Draw(rt, "window")})
		}
		after := ""
		for range rapid.IntRange(1, 4).Draw(rt, "times") {
			d := subscribeData(t, after)
			d.Raw = raw
			asked := c.send(protocol.DoSubscribe, id, d)
			m, _ := c.waitFor("the answer", func(m serverMessage) bool { return m.isAnswer() && m.ID == asked })
			r := result[protocol.SubscribeResult](c, m)
			last := r.After.Seq
			for range rapid.IntRange(0, 15).Draw(rt, "lines") {
				m := c.next()
				if m.Seq == 0 {
					continue
				}
				last = follows(t, last, []serverMessage{m})
				c.send(protocol.DoAck, id, protocol.AckData{Seq: last})
			}
			after = protocol.Position{
				Epoch: r.After.Epoch,
				Seq:   rapid.Uint64Range(0, last).Draw(rt, "position"),
			}.String()
		}
		_ = c.ws.CloseNow()
	})
}

func TestNothingOfASessionComesAfterUnsubscribe(t *testing.T) {
	w := newTestServer(t)
	id := w.dial().create("endless")
	for range 20 {
		c := w.dial()
		c.subscribe(id, "")
		c.waitForType(protocol.TextDelta)
		asked := c.send(protocol.DoUnsubscribe, id, nil)
		m, _ := c.waitFor("the answer", func(m serverMessage) bool { return m.isAnswer() && m.ID == asked })
		if m.Error != nil {
			t.Fatal(m.Error)
		}
		ping := c.send(protocol.DoPing, "", nil)
		_, after := c.waitFor("the pong", func(m serverMessage) bool { return m.isAnswer() && m.ID == ping })
		for _, m := range after {
			if m.Durable() {
				t.Fatalf("event %d after unsubscribe", m.Seq)
			}
		}
		_ = c.ws.CloseNow()
	}
}

func TestUnsubscribeWaitsForTheSubscribeBeforeIt(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	for range 20 {
		c := w.dial()
		c.write(
			fmt.Sprintf(
				`{"id":"a","command":"subscribe","session":%q}`+"\n"+`{"id":"b","command":"unsubscribe","session":%q}`,
				id,
				id,
			),
		)
		if m := c.answer("a"); m.Error != nil {
			t.Fatalf("subscribe: %v", m.Error)
		}
		if m := c.answer("b"); m.Error != nil {
			t.Fatalf("unsubscribe: %v", m.Error)
		}
		_ = c.ws.CloseNow()
	}
}

func TestSubscriptionsAreServedInTurn(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		var ids []string
		for range 4 {
			ids = append(ids, w.runTurn("much"))
		}
		c := w.dial()
		for _, id := range ids {
			c.send(protocol.DoSubscribe, id, subscribeDataRaw())
		}
		synctest.Wait() // nothing is read yet: all are subscribed, none has caught up
		// Until the first is caught up, all sessions get the same number of bytes, within one
		// write.
		bytes, answers := map[string]int{}, 0
		for {
			m := c.next()
			if m.Type == protocol.CaughtUp {
				break
			}
			if m.isAnswer() {
				answers++
				clear(bytes)
			}
			bytes[m.Session] += len(protocol.MustEncode(m))
		}
		if answers != len(ids) {
			t.Fatalf("the first caught up after %d subscriptions", answers)
		}
		var all []int
		for _, id := range ids {
			all = append(all, bytes[id])
		}
		if slices.Min(all) == 0 || slices.Max(all)-slices.Min(all) > 2*maxWrite {
			t.Errorf("bytes of each session: %v", all)
		}
	})
}

func subscribeDataRaw() protocol.SubscribeData {
	return protocol.SubscribeData{Position: &protocol.Position{}, Raw: true}
}

func TestAnswersAndPresenceOvertakeABacklog(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("large")
	first := w.dial()
	first.subscribe(id, "")
	c := w.dial()
	c.ask(protocol.DoSend, id, protocol.SendData{Text: "ask"})
	first.waitForType(protocol.ApprovalRequested)
	c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
	// 2.4 MB wait for this client, which does not read: a decision and the presence of a second
	// client must overtake them.
	decided := c.send(protocol.DoApprove, id, protocol.ApproveData{Decision: protocol.AllowOnce})
	other := w.dial()
	other.subscribe(id, "0")
	other.waitForType(protocol.ApprovalResolved)
	other.ask(protocol.DoQueueHold, id, protocol.QueueHoldData{}) // answered after the decision
	answered, present := false, false
	_, before := c.waitFor("the answer and the other's presence", func(m serverMessage) bool {
		answered = answered || m.isAnswer() && m.ID == decided
		present = present || m.Type == protocol.ClientAttached
		return answered && present
	})
	bytes := 0
	for _, m := range before {
		bytes += len(protocol.MustEncode(m))
	}
	if bytes > 4*maxWrite {
		t.Errorf("they arrived after %d bytes of output", bytes)
	}
}

func TestSubscriptionOfADeletedSessionCanBeEnded(t *testing.T) {
	w := newTestServer(t)
	id := w.runTurn("few")
	c := w.dial()
	c.hello(protocol.HelloData{Acks: true})
	c.subscribe(id, "0")
	c.caughtUp(id)
	w.dial().ask(protocol.DoClose, id, protocol.CloseData{Delete: true})
	c.waitFor("the deletion", func(m serverMessage) bool {
		var s protocol.Summary
		return m.Type == protocol.SummaryChanged && m.Decode(&s) == nil && s.Deleted
	})
	if m := c.ask(protocol.DoUnsubscribe, id, nil); m.Error != nil {
		t.Errorf("unsubscribe: %v", m.Error)
	}
	c.refused(c.ask(protocol.DoUnsubscribe, id, nil), protocol.CodeNoSession)
}
