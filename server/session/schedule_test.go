package session

import (
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
)

// sendAt sends a message that is due after a time.
func (r *testHub) sendAt(id, text string, in time.Duration) protocol.SendResult {
	r.t.Helper()
	at := time.Now().Add(in)
	return must[protocol.SendResult](
		r, r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: text, NotBefore: &at})),
	)
}

func TestAScheduledMessageStartsAtItsTime(t *testing.T) {
	bubble(t, Config{UnloadAfter: 10 * time.Second}, func(t *testing.T, r *testHub) {
		id := r.create()
		if s := r.sendAt(id, "later", 2*time.Hour); s.Status != protocol.SendScheduled || s.Index != nil {
			t.Fatalf("%+v", s)
		}
		if r.hub.list.Busy() != 1 {
			t.Error("the server may end before the time")
		}
		time.Sleep(2*time.Hour - time.Second)
		r.waitIdle()
		st := r.state(id)
		if st.Turn != nil || len(st.Queue) != 0 || len(st.Scheduled) != 1 {
			t.Fatalf("before the time: %s", encodeState(st))
		}
		if sum := r.hub.Sessions().List(true)[0]; sum.Queue != 0 || !sum.Scheduled.Equal(*st.Scheduled[0].NotBefore) {
			t.Errorf("summary %+v", sum)
		}
		time.Sleep(2 * time.Second)
		r.waitIdle()
		if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "later" || st.Turn.Message.QueuedAt == nil ||
			*st.Turn.Message.By != anna.By || len(st.Scheduled) != 0 {
			t.Errorf("at the time: %s", encodeState(st))
		}
	})
}

func TestAScheduledMessageOutlivesTheServer(t *testing.T) {
	for name, end := range map[string]func(*testHub){
		"stopped": (*testHub).close,
		"killed":  func(r *testHub) { r.store.kill(); r.close(); r.store = r.store.revived() },
	} {
		for down, want := range map[time.Duration]string{time.Minute: "", 2 * time.Hour: "later"} {
			t.Run(name, func(t *testing.T) {
				bubble(t, Config{}, func(t *testing.T, r *testHub) {
					id := r.create()
					r.sendAt(id, "later", time.Hour)
					end(r)
					time.Sleep(down)
					r.open()
					r.waitIdle()
					st := r.state(id)
					if (st.Turn != nil) != (want != "") {
						t.Fatalf("after %s: %s", down, encodeState(st))
					}
					time.Sleep(time.Hour)
					r.waitIdle()
					if st := r.state(id); st.Turn == nil || st.Turn.Message.Text != "later" {
						t.Errorf("at its time: %s", encodeState(st))
					}
				})
			})
		}
	}
}

func TestAMessageOfThePastStartsAndAClosedSessionStartsNone(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.sendAt(id, "later", time.Hour)
		if s := r.sendAt(id, "past", -time.Hour); s.Status != protocol.SendStarted {
			t.Errorf("a time in the past: %+v", s)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{})))
		time.Sleep(2 * time.Hour)
		if st := r.state(id); st.Turn != nil || len(st.Queue) != 0 || r.hub.list.Busy() != 0 {
			t.Errorf("a closed session: %s", encodeState(st))
		}
	})
}

// A restored session has the scheduled messages of the state. Messages whose time has passed by
// then follow the queue.
func TestAStateCarriesScheduledMessages(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.sendAt(id, "first", time.Hour)
		r.sendAt(id, "second", 3*time.Hour)
		state := exportOf(r, id)
		r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true}))
		time.Sleep(2 * time.Hour)
		next := must[protocol.CreateResult](r, restore(r, state)).Session
		r.waitIdle()
		st := r.state(next)
		if st.Turn == nil || st.Turn.Message.Text != "first" || *st.Turn.Message.By != anna.By ||
			len(st.Scheduled) != 1 {
			t.Fatalf("restored: %s", encodeState(st))
		}
		r.agents.run().finish(agent.End{}, nil)
		r.restart()
		time.Sleep(time.Hour)
		r.waitIdle()
		if st := r.state(next); st.Turn == nil || st.Turn.Message.Text != "second" || len(st.Scheduled) != 0 {
			t.Errorf("at the time: %s", encodeState(st))
		}
		r.agents.run().finish(agent.End{}, nil)
	})
}

func TestAStateWithAScheduledMessageWithoutATimeIsRefused(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		x := archive.State{Agent: "fake", Schedule: []protocol.Message{{MessageID: "m_1", Text: "when"}}}
		k := restore(r, r.hub.cfg.Sign(protocol.MustEncode(x)))
		if protocol.CodeOf(k.err) != protocol.CodeInvalidState {
			t.Errorf("answer %v", k.err)
		}
	})
}
