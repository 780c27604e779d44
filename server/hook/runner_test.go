package hook

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"agentctl/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// turnsOf returns the turns that notifications name, in their order.
func turnsOf(list []Notification) string {
	var names []string
	for i := range list {
		names = append(names, list[i].Turn.ID)
	}
	return strings.Join(names, " ")
}

func TestEachEndOfATurnIsSentOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{Filter: Filter{Types: []string{TypeTurnEnded, TypeError, TypeBudget, TypeLimited}}})
		r.sessions.create("s_1", nil)
		r.sessions.endTurn("s_1", "old", "before the hook existed", protocol.ReasonCompleted)
		r.start()
		synctest.Wait()
		r.sessions.endTurn("s_1", "t1", "hello", protocol.ReasonCompleted)
		r.sessions.create("s_2", nil)
		r.sessions.endTurn("s_2", "t2", strings.Repeat("é", maxTurnText), protocol.ReasonError)
		r.sessions.endTurn("s_2", "t3", "", protocol.ReasonBudget)
		r.sessions.endTurn("s_2", "t4", "", protocol.ReasonLimited)
		synctest.Wait()
		r.close()
		byTurn := map[string]Notification{}
		for _, n := range r.receiver.taken() {
			byTurn[n.Turn.ID] = n
		}
		if len(r.receiver.taken()) != 4 || len(byTurn) != 4 {
			t.Fatalf("sent: %s", turnsOf(r.receiver.taken()))
		}
		a, b, c := byTurn["t1"], byTurn["t2"], byTurn["t3"]
		if a.Type != TypeTurnEnded || a.Turn.Text != "hello" || a.Turn.Usage.Cost != 0.5 ||
			a.Session.Session != "s_1" || a.ID != "s_1_e1_8" || a.Hook != "phone" {
			t.Errorf("%+v", a)
		}
		if b.Type != TypeError || len(b.Turn.Text) != maxTurnText || b.Turn.TextMissing != maxTurnText {
			t.Errorf("%s: %d bytes, %d missing", b.Type, len(b.Turn.Text), b.Turn.TextMissing)
		}
		if c.Type != TypeBudget || byTurn["t4"].Type != TypeLimited {
			t.Errorf("%+v, %+v", c, byTurn["t4"])
		}
	})
}

func TestFiltersChooseTypesAgentsLabelsAndNames(t *testing.T) {
	for _, c := range []struct {
		filter Filter
		want   bool
	}{
		{Filter{}, true},
		{Filter{Agent: "a"}, true},
		{Filter{Agent: "b"}, false},
		{Filter{Labels: map[string]string{"team": "x"}}, true},
		{Filter{Labels: map[string]string{"team": "y"}}, false},
		{Filter{Name: "fix-*"}, true},
		{Filter{Name: "fix"}, false},
		{Filter{Types: []string{TypeTurnEnded}}, true},
		{Filter{Types: []string{TypeError}}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, Hook{Filter: c.filter})
			r.start()
			r.sessions.create("s_1", func(s *protocol.Summary) {
				s.Name, s.Labels = "fix-1", map[string]string{"team": "x"}
			})
			r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
			synctest.Wait()
			r.close()
			if got := len(r.receiver.taken()) == 1; got != c.want {
				t.Errorf("%+v: sent %t", c.filter, got)
			}
		})
	}
}

// A receiver is down for hours, or answers 500 for a while: everything arrives, in order.
func TestAReceiverThatWasDownGetsEverythingInOrder(t *testing.T) {
	down := &failure{reason: "connection refused", absent: true}
	for name, answers := range map[string]func(try int) error{
		"down":  func(try int) error { return map[bool]error{true: down}[try < 50] },
		"fails": func(try int) error { return map[bool]error{true: failf("500")}[try%3 != 0] },
		"slow":  func(int) error { time.Sleep(5 * time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Hook{})
				try := 0
				r.receiver.answer = func(*Notification) error { try++; return answers(try) }
				r.start()
				r.sessions.create("s_1", nil)
				var want []string
				for i := range 20 {
					want = append(want, fmt.Sprint("t", i))
					r.sessions.endTurn("s_1", want[i], "", protocol.ReasonCompleted)
				}
				time.Sleep(12 * time.Hour)
				r.close()
				if got := turnsOf(r.receiver.taken()); got != strings.Join(want, " ") {
					t.Errorf("sent: %s", got)
				}
			})
		})
	}
}

func TestTheTimeBetweenAttemptsGrowsAndIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{Limits: Limits{Age: 4 * time.Hour}})
		r.receiver.answer = func(*Notification) error { return &failure{reason: "down", absent: true} }
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		time.Sleep(5 * time.Hour)
		r.close()
		tries := r.receiver.tries
		if n := len(tries); n < 50 || n > 120 {
			t.Errorf("%d attempts in 4 hours", n)
		}
		for i := range tries[1:] {
			if d := tries[i+1].Sub(tries[i]); d > maxDelay || d < firstDelay/2 {
				t.Errorf("attempt %d after %s", i+1, d)
			}
		}
		if !strings.Contains(r.log.String(), "too old") {
			t.Errorf("the log does not say that the notification was dropped:\n%s", &r.log)
		}
	})
}

func TestAReceiverSaysWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		try := 0
		r.receiver.answer = func(*Notification) error {
			if try++; try == 1 {
				return &failure{reason: "429", absent: true, waiting: 20 * time.Minute}
			}
			return nil
		}
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		time.Sleep(time.Hour)
		r.close()
		if d := r.receiver.tries[1].Sub(r.receiver.tries[0]); d != 20*time.Minute || len(r.receiver.taken()) != 1 {
			t.Errorf("again after %s", d)
		}
	})
}

func TestARefusedNotificationDoesNotHoldUpTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		tries int
	}{
		"for good":  {&failure{reason: "422", final: true}, 1},
		"too often": {failf("500"), 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, Hook{Limits: Limits{Attempts: 4}})
				r.receiver.answer = func(n *Notification) error {
					if n.Turn.ID == "t1" {
						return c.err
					}
					return nil
				}
				r.start()
				r.sessions.create("s_1", nil)
				r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
				r.sessions.endTurn("s_1", "t2", "", protocol.ReasonCompleted)
				time.Sleep(time.Hour)
				r.close()
				if got := turnsOf(r.receiver.taken()); got != "t2" || len(r.receiver.tries) != c.tries+1 {
					t.Errorf("sent %q in %d attempts", got, len(r.receiver.tries))
				}
				if !strings.Contains(r.log.String(), "notification dropped") {
					t.Errorf("the log says\n%s", &r.log)
				}
			})
		})
	}
}

func TestTheBacklogKeepsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{Limits: Limits{Backlog: 3}})
		down := true
		r.receiver.answer = func(*Notification) error {
			if down {
				return &failure{reason: "down", absent: true}
			}
			return nil
		}
		r.start()
		r.sessions.create("s_1", nil)
		for i := range 10 {
			r.sessions.endTurn("s_1", fmt.Sprint("t", i), "", protocol.ReasonCompleted)
			synctest.Wait()
		}
		r.receiver.set(nil)
		time.Sleep(time.Hour)
		r.close()
		if got := turnsOf(r.receiver.taken()); got != "t0 t7 t8 t9" { // t0 was in delivery
			t.Errorf("sent %s", got)
		}
		if log := r.log.String(); !strings.Contains(log, "the backlog is full") || !strings.Contains(log, "dropped=6") {
			t.Errorf("the log says\n%s", log)
		}
	})
}

func TestARestartLosesNothingAndRepeatsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.create("s_2", nil)
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		r.receiver.set(func(*Notification) error { return &failure{reason: "down", absent: true} })
		r.sessions.endTurn("s_1", "t2", "", protocol.ReasonCompleted)
		r.sessions.endTurn("s_2", "t3", "", protocol.ReasonCompleted)
		synctest.Wait()
		r.close()
		r.sessions.endTurn("s_1", "t4", "", protocol.ReasonCompleted)
		r.receiver.set(nil)
		r.start()
		synctest.Wait()
		r.close()
		r.start()
		synctest.Wait()
		r.close()
		got := map[string]int{}
		for _, n := range r.receiver.taken() {
			got[n.Turn.ID]++
		}
		if len(got) != 4 || len(r.receiver.taken()) != 4 {
			t.Errorf("sent %v", got)
		}
	})
}

// A killed server leaves the positions of the last notification, perhaps with a torn line.
func TestAfterAKillNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		path := r.dir + "/phone.positions"
		killed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		r.sessions.endTurn("s_1", "t2", "", protocol.ReasonCompleted)
		synctest.Wait()
		r.close()
		if err := os.WriteFile(path, append(killed, `{"session":"s_1","se`...), 0o600); err != nil {
			t.Fatal(err)
		}
		r.start()
		synctest.Wait()
		r.close()
		list := r.receiver.taken()
		if turnsOf(list) != "t1 t2 t2" || list[1].ID != list[2].ID {
			t.Errorf("sent %s", turnsOf(list))
		}
	})
}

func TestAStoreThatFailsIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		r.sessions.failRead = errors.New("busy")
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		time.Sleep(time.Minute)
		r.sessions.mu.Lock()
		if r.sessions.reads > 20 {
			t.Errorf("%d reads in a minute", r.sessions.reads)
		}
		r.sessions.failRead = nil
		r.sessions.mu.Unlock()
		time.Sleep(time.Minute)
		r.close()
		if got := turnsOf(r.receiver.taken()); got != "t1" {
			t.Errorf("sent %q", got)
		}
	})
}

func TestARequestThatIsDecidedIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.create("s_2", nil)
		r.receiver.set(func(*Notification) error { return &failure{reason: "down", absent: true} })
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted) // holds up the queue
		synctest.Wait()
		r.sessions.ask("s_2", newRequest("r1"))
		r.sessions.ask("s_2", newRequest("r2"))
		r.sessions.mu.Lock()
		r.sessions.pending["s_2"] = r.sessions.pending["s_2"][1:]
		r.sessions.mu.Unlock()
		r.receiver.set(nil)
		time.Sleep(time.Minute)
		r.close()
		list := r.receiver.taken()
		if len(list) != 2 || !strings.Contains(string(list[1].Approval.Request), `"r2"`) ||
			list[1].Approval.Links != nil {
			t.Errorf("sent %+v", list)
		}
	})
}

func TestDenyAfterDeniesWhatIsStillPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{DenyAfter: 10 * time.Minute})
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.ask("s_1", newRequest("r1"))
		time.Sleep(4 * time.Minute)
		r.sessions.ask("s_1", newRequest("r2"))
		time.Sleep(6*time.Minute + time.Second)
		want := decided{session: "s_1", request: "r1", decision: protocol.Deny, by: actor("phone")}
		if got := r.sessions.decisions(); len(got) != 1 || got[0] != want {
			t.Fatalf("after 10 minutes: %+v", got)
		}
		r.close()
		r.start() // the deadline survives a restart
		time.Sleep(4 * time.Minute)
		r.close()
		if got := r.sessions.decisions(); len(got) != 2 || got[1].request != "r2" {
			t.Errorf("after 14 minutes: %+v", got)
		}
	})
}

// A request of a sub-agent is pending in two sessions.
func TestARequestOfASubAgentIsSentAndDeniedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{DenyAfter: 10 * time.Minute})
		r.start()
		r.sessions.create("s_1", nil)
		r.sessions.create("s_2", func(s *protocol.Summary) { s.Parent, s.SubAgent = "s_1", true })
		for _, session := range []string{"s_1", "s_2"} {
			a := newRequest("r1")
			a.SubAgent = &protocol.SubAgent{Session: "s_2"}
			r.sessions.ask(session, a)
		}
		r.sessions.endTurn("s_2", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		r.close()
		r.start()
		time.Sleep(11 * time.Minute)
		r.sessions.emit("s_2", "t1", protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1"})
		r.sessions.emit("s_1", "t1", protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r1"})
		synctest.Wait()
		r.close()
		got := ""
		for _, n := range r.receiver.taken() {
			got += n.Session.Session + " " + n.Type + "; "
		}
		if want := "s_1 approval.requested; s_2 turn.ended; s_1 approval.resolved; "; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		if got := r.sessions.decisions(); len(got) != 1 || got[0].session != "s_1" {
			t.Errorf("denied: %+v", got)
		}
	})
}

func TestLinksExpireWhenTheRequestIsDenied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{DenyAfter: 10 * time.Minute, Links: Links{Base: "https://me.example"}})
		r.start()
		r.sessions.create("s_1", nil)
		due := time.Now().Add(10 * time.Minute)
		r.sessions.ask("s_1", newRequest("r1"))
		time.Sleep(time.Minute)
		r.close()
		list := r.receiver.taken()
		if len(list) != 1 || list[0].Approval.Expires == nil || list[0].Approval.Expires.Sub(due).Abs() > time.Second {
			t.Errorf("sent %+v, want links until %v", list, due)
		}
	})
}

// Events without a notification cost a session only the note that its summary has changed, without
// an allocation. The hook does not read these events, even if its receiver fails.
func TestADeadReceiverCostsASessionNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, Hook{})
		r.receiver.set(func(*Notification) error { return &failure{reason: "down", absent: true} })
		r.sessions.create("s_1", nil)
		r.start()
		r.sessions.endTurn("s_1", "t1", "", protocol.ReasonCompleted)
		synctest.Wait()
		before := r.sessions.reads
		for range 1000 {
			r.sessions.emit("s_1", "t2", protocol.TextDelta, protocol.PartDeltaData{Part: "p1", Text: "x"})
			synctest.Wait()
		}
		if reads := r.sessions.reads - before; reads != 0 {
			t.Errorf("%d reads for 1,000 events without a notification", reads)
		}
		r.close()
	})
}
