package e2e

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// steered returns the messages that joined the newest turn, with their outcomes. A dialect may show one as a
// notice.
func (s *follower) steered() string {
	var list []string
	for _, it := range s.lastTurn().Items {
		switch {
		case it.Steered != nil:
			list = append(list, it.Steered.Message.Text+" "+string(it.Steered.Outcome))
		case it.Type == protocol.Notice && strings.Contains(string(it.Data), "use "):
			list = append(list, "a notice")
		}
	}
	return strings.Join(list, ", ")
}

// A message of a client of any dialect that a native client delivers in the turn is seen by everybody, live and
// late, and is no turn for anybody.
func TestAMessageThatJoinsATurnIsSeenInEveryDialect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"steers":true}`, `{"on":"start"}`, `{"say":"one"}`, `{"steer":1}`,
			`{"wait":"{steered}"}`, `{"say":"I {steered}"}`)
		ann := w.client("ann")
		id := w.create(ann)
		var followers []*follower
		for _, name := range append([]string{native}, dialect.Names()...) {
			followers = append(followers, follow(t, name, w.dialectClient(name, id), id))
		}
		synctest.Wait()
		for _, sender := range followers {
			text := "use " + sender.dialect
			if sender.dialect == "multiagent" { // its client sends nothing while a turn runs
				do[protocol.QueueHoldResult](t, ann, protocol.DoQueueHold, id, protocol.QueueHoldData{})
				w.send(ann, id, "start")
				w.send(sender.client, id, text)
				do[protocol.QueueReleaseResult](t, ann, protocol.DoQueueRelease, id, protocol.QueueReleaseData{})
			} else {
				w.send(ann, id, "start")
			}
			for _, s := range followers {
				s.waitFor(protocol.TextDelta)
			}
			if sender.dialect != "multiagent" {
				w.send(sender.client, id, text)
			}
			synctest.Wait()
			queued := do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, protocol.Empty{}).Snapshot.State.Queue
			if len(queued) != 1 {
				t.Fatalf("%s: queue %+v", sender.dialect, queued)
			}
			r := do[protocol.SendResult](t, ann, protocol.DoQueueSteer, id, protocol.QueueSteerData{
				MessageID: queued[0].MessageID,
			})
			if r.Status != protocol.SendSteering {
				t.Errorf("%s: %+v", sender.dialect, r)
			}
			synctest.Wait()
			var late []*follower
			for _, name := range []string{native, "effectiveagent", "myagent", "sandcastle"} {
				late = append(late, follow(t, name, w.dialectClient(name, id), id))
			}
			w.script.OpenGate(text)
			for _, s := range slices.Concat(followers, late) {
				s.waitFor(protocol.TurnEnded)
				want := text + " taken_in"
				switch s.dialect {
				case sender.dialect:
				case "agentloop":
					want = "a notice"
				case "multiagent":
					want = ""
				}
				if got := s.steered(); got != want {
					t.Errorf("%s sent, %s shows %q, want %q", sender.dialect, s.dialect, got, want)
				}
				if got := s.agentText(); got != "one I "+text && got != "oneI "+text {
					t.Errorf("%s sent, %s has text %q", sender.dialect, s.dialect, got)
				}
				if s.state.Turn != nil || len(s.state.Queue) != 0 {
					t.Errorf("%s sent, %s: turn %+v, queue %+v", sender.dialect, s.dialect, s.state.Turn, s.state.Queue)
				}
			}
			for _, s := range late {
				_ = s.client.Close()
			}
		}
	})
}

// Two users act on the same queued message: one wins, and the other is told.
func TestTwoUsersRaceForAMessage(t *testing.T) {
	outcomes := map[string]bool{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := newTestServer(t, `{"steers":true}`, `{"on":"start"}`, `{"steer":1}`, `{"sleep":"1h"}`)
			ann, bob := w.client("ann"), w.client("bob")
			id := w.create(ann)
			w.send(ann, id, "start")
			m := w.send(ann, id, "use this")
			var steered protocol.SendResult
			var removed protocol.QueueRemoveResult
			var steerErr, removeErr error
			var race sync.WaitGroup
			race.Go(func() {
				steered, steerErr = wsclient.Call[protocol.SendResult](
					t.Context(), ann, protocol.DoQueueSteer, id, protocol.QueueSteerData{MessageID: m.MessageID})
			})
			race.Go(func() {
				removed, removeErr = wsclient.Call[protocol.QueueRemoveResult](
					t.Context(), bob, protocol.DoQueueRemove, id, protocol.QueueRemoveData{MessageID: m.MessageID})
			})
			race.Wait()
			synctest.Wait()
			st := do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, protocol.Empty{}).Snapshot.State
			joined := st.Turn.Has(m.MessageID)
			switch {
			case removeErr != nil, joined == removed.Removed, len(st.Queue) != 0:
				t.Errorf("joined %v, removed %+v, %v, queue %+v", joined, removed, removeErr, st.Queue)
			case joined && (steerErr != nil || steered.Status != protocol.SendSteering):
				t.Errorf("joined, and %+v, %v", steered, steerErr)
			case steerErr != nil && protocol.CodeOf(steerErr) != protocol.CodeNotFound:
				t.Error(steerErr)
			}
			outcomes[fmt.Sprint(joined)] = true
			do[protocol.InterruptResult](t, ann, protocol.DoInterrupt, id, protocol.InterruptData{})
		})
	}
	t.Logf("joined: %v", outcomes)
}

// Over a dialect the client says that it cannot deliver a message in the turn.
func TestNoDialectDeliversAMessageInTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTestServer(t, `{"steers":true}`, `{"on":"start"}`, `{"sleep":"1h"}`)
		ann := w.client("ann")
		id := w.create(ann)
		w.send(ann, id, "start")
		for _, name := range dialect.Names() {
			c := w.dialectClient(name, id)
			follow(t, name, c, id)
			_, err := wsclient.Call[protocol.SendResult](t.Context(), c, protocol.DoSend, id, protocol.SendData{
				Text: "x", Delivery: protocol.DeliverSteer,
			})
			if protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), "in the current turn") {
				t.Errorf("%s: %v", name, err)
			}
		}
		do[protocol.InterruptResult](t, ann, protocol.DoInterrupt, id, protocol.InterruptData{})
	})
}
