package session

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

// notifiedOf returns the data of the events of a type that a subscriber got.
func notifiedOf[T any](t *testing.T, l *testSubscriber, typ protocol.Type) []T {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []T
	for _, line := range l.notified {
		var e protocol.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == typ {
			var data T
			if err := e.Decode(&data); err != nil {
				t.Fatal(err)
			}
			out = append(out, data)
		}
	}
	return out
}

// attachTwo returns a session with two subscribers, c1 and c2, and the callers of both.
func attachTwo(t *testing.T, r *testHub) (id string, subs []*testSubscriber, who []Caller) {
	id = r.create()
	for _, name := range []string{"c1", "c2"} {
		l := &testSubscriber{name: name}
		l.acked.Store(1 << 40)
		r.hub.Attach(t.Context(), id, l, &protocol.SubscribeData{}, func(*Attachment, error) {})
		synctest.Wait()
		subs, who = append(subs, l), append(who, Caller{By: l.Actor(), Conn: name})
	}
	return id, subs, who
}

func TestOfTheLooksOfAClientOneASecondIsSent(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id, subs, who := attachTwo(t, r)
		head := r.state(id).Seq
		look := func(l *protocol.Look) {
			must[protocol.Empty](r, r.do(who[0], newCommand(protocol.DoLook, id, protocol.LookData{Look: l})))
		}
		for i := range 50 { // five seconds
			look(&protocol.Look{Turn: fmt.Sprint("t", i), Number: i})
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		got := notifiedOf[protocol.Client](t, subs[1], protocol.ClientLook)
		if len(got) < 5 || len(got) > 6 || got[0].Look.Turn != "t0" || got[len(got)-1].Look.Turn != "t49" ||
			got[0].Client != "c1" {
			t.Errorf("%d looks: %+v", len(got), got)
		}
		late := &testSubscriber{name: "c3"}
		r.hub.Attach(t.Context(), id, late, &protocol.SubscribeData{}, func(a *Attachment, err error) {
			if err != nil || a.Result.Clients[0].Look == nil || a.Result.Clients[0].Look.Turn != "t49" {
				t.Errorf("%v; a late client gets %+v", err, a)
			}
		})
		look(nil)
		if got = notifiedOf[protocol.Client](t, subs[1], protocol.ClientLook); got[len(got)-1].Look != nil {
			t.Errorf("looks %+v", got[len(got)-1])
		}
		if r.state(id).Seq != head {
			t.Error("looks are in the log")
		}
	})
}

func TestAPointerIsSentToAllAndRecordedNowhere(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id, subs, who := attachTwo(t, r)
		head := r.state(id).Seq
		d := protocol.PointData{Turn: "t1", Kind: protocol.HitTool, Item: "call"}
		must[protocol.Empty](r, r.do(who[0], newCommand(protocol.DoPoint, id, d)))
		if err := r.do(who[0], newCommand(protocol.DoPoint, id, d)).err; protocol.CodeOf(err) != protocol.CodeTooMany {
			t.Errorf("a second pointer within a second: %v", err)
		}
		must[protocol.Empty](r, r.do(who[1], newCommand(protocol.DoPoint, id, d)))
		time.Sleep(time.Second)
		must[protocol.Empty](r, r.do(who[0], newCommand(protocol.DoPoint, id, d)))
		got := notifiedOf[protocol.PointedData](t, subs[1], protocol.ClientPointed)
		if len(got) != 3 || got[0].Client != "c1" || got[0].By.Name != "c1" || got[0].PointData != d {
			t.Errorf("pointers %+v", got)
		}
		if r.state(id).Seq != head {
			t.Error("pointers are in the log")
		}
	})
}

func TestPresenceIsBoundedAndOfSubscribersOnly(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id, _, who := attachTwo(t, r)
		other := Caller{By: anna.By, Conn: "c9"}
		long := strings.Repeat("x", maxID+1)
		for _, c := range []struct {
			who  Caller
			verb protocol.Verb
			data any
			want protocol.Code
		}{
			{other, protocol.DoLook, protocol.LookData{}, protocol.CodeNotSubscribed},
			{other, protocol.DoPoint, protocol.PointData{Turn: "t"}, protocol.CodeNotSubscribed},
			{who[0], protocol.DoLook, protocol.LookData{Look: &protocol.Look{Turn: long}}, protocol.CodeInvalidMessage},
			{who[0], protocol.DoLook, protocol.LookData{Look: &protocol.Look{Number: -1}}, protocol.CodeInvalidMessage},
			{who[0], protocol.DoPoint, protocol.PointData{}, protocol.CodeInvalidMessage},
			{who[0], protocol.DoPoint, protocol.PointData{Turn: "t", Item: long}, protocol.CodeInvalidMessage},
			{who[0], protocol.DoPoint, protocol.PointData{Turn: long}, protocol.CodeInvalidMessage},
		} {
			if err := r.do(c.who, newCommand(c.verb, id, c.data)).err; protocol.CodeOf(err) != c.want {
				t.Errorf("%s %+v: %v, want %s", c.verb, c.data, err, c.want)
			}
		}
	})
}
