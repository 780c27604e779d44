package session

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/eventlog"
)

func exportOf(r *testHub, session string) protocol.SignedState {
	r.t.Helper()
	got := must[protocol.ExportResult](r, r.do(anna, newCommand(protocol.DoExport, session, protocol.Empty{})))
	ttl := r.hub.settings().StateTTL
	if left := time.Until(got.Expires); left > ttl || left < ttl-time.Minute {
		r.t.Errorf("expires in %v", left)
	}
	return got.State
}

func restore(r *testHub, st protocol.SignedState) *testCall {
	return r.do(bert, newCommand(protocol.DoRestore, "", protocol.RestoreData{State: st}))
}

func TestARestoredSessionGoesOnWithWhatWasExported(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		create := protocol.CreateData{Title: "work", Env: map[string]string{"TOKEN": "hush-hush"}}
		id := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", create))).Session
		r.send(id, "one")
		run := r.agents.run()
		run.emit(
			agent.Event{Type: protocol.PlanStarted, Data: protocol.PlanStartedData{Question: "why"}},
			agent.Event{Type: protocol.PlanCompleted, Data: protocol.PlanTasksData{Tasks: []protocol.Task{{ID: "t1"}}}},
			agent.Event{Type: protocol.ContextUpdated, Data: protocol.ContextInfo{Tokens: 7}},
			agent.Event{Type: protocol.UsageUpdated, Data: protocol.Usage{Input: 4}},
		)
		if err := run.out.Save([]byte("memory")); err != nil {
			t.Fatal(err)
		}
		r.send(id, "two")
		r.send(id, "three")
		st := exportOf(r, id)
		if bytes.Contains(st.State, []byte("hush-hush")) {
			t.Error("the environment was exported")
		}
		made := must[protocol.CreateResult](r, restore(r, st))
		if made.Session == id {
			t.Fatal("restored onto itself")
		}
		s := r.state(made.Session)
		if s.Agent != "fake" || s.Usage == nil || s.Usage.Input != 4 || s.Turns != 0 {
			t.Errorf("restored %s", encodeState(s))
		}
		if s.Title != "work" || s.Turn == nil || s.Turn.Message.Text != "two" || len(s.Queue) != 1 ||
			s.Queue[0].Text != "three" {
			t.Errorf("restored %s", encodeState(s))
		}
		var from protocol.StateRestoredData
		for _, e := range r.events(made.Session, false) {
			if e.Type == protocol.StateRestored {
				_ = e.Decode(&from)
			}
		}
		if from.Session != id || from.Position.Seq == 0 || from.Exported.IsZero() {
			t.Errorf("restored from %+v", from)
		}
		if s.Plan == nil || s.Plan.Question != "why" || s.Plan.Status != protocol.StatusCompleted || s.Context == nil ||
			s.Context.Tokens != 7 {
			t.Errorf("plan %+v, context %+v", s.Plan, s.Context)
		}
		if spec := r.agents.run().agent.spec; string(spec.State) != "memory" || spec.Env != nil {
			t.Errorf("the agent received %+v", spec)
		}
		for _, id := range []string{id, made.Session} {
			newLogChecker(t).apply(r.events(id, false))
			for _, e := range r.events(id, false) {
				if bytes.Contains(e.Data, []byte("hush-hush")) {
					t.Errorf("the environment is in %s", e.Type)
				}
			}
		}
		if r.state(id).Turn == nil {
			t.Error("the exported session changed")
		}
	})
}

func TestOnlyWhatThisServerSignedIsRestored(t *testing.T) {
	bubble(t, Config{StateTTL: time.Hour}, func(t *testing.T, r *testHub) {
		good := exportOf(r, r.create())
		forged := func(change func(*archive.State)) protocol.SignedState {
			var x archive.State
			if err := json.Unmarshal(good.State, &x); err != nil {
				t.Fatal(err)
			}
			change(&x)
			st := good
			st.State = protocol.MustEncode(x)
			return st
		}
		other := forged(func(*archive.State) {})
		other.Signature = (&archive.Signing{Secret: []byte("another server's")}).Sign(other.State).Signature
		empty := r.hub.cfg.Sign([]byte("{}"))
		version, none := good, good
		version.Version, none.Signature = "2", ""
		for name, st := range map[string]protocol.SignedState{
			"another agent":    forged(func(x *archive.State) { x.Agent = "acp:evil" }),
			"another time":     forged(func(x *archive.State) { x.At = x.At.Add(time.Hour) }),
			"another server":   other,
			"required fields":  empty,
			"another version":  version,
			"no signature":     none,
			"nothing":          {},
			"not even a state": r.hub.cfg.Sign([]byte("nonsense")),
		} {
			if k := restore(r, st); protocol.CodeOf(k.err) != protocol.CodeInvalidState {
				t.Errorf("%s: %v", name, k.err)
			}
		}
		must[protocol.CreateResult](r, restore(r, good))
		time.Sleep(time.Hour + time.Second)
		refused(r, restore(r, good), protocol.CodeInvalidState)
		if n := len(r.hub.Sessions().List(true)); n != 2 {
			t.Errorf("%d sessions", n)
		}
	})
}

func TestARestoreSentAgainAfterItExpiredReturnsTheFirstAnswer(t *testing.T) {
	bubble(t, Config{StateTTL: time.Hour}, func(t *testing.T, r *testHub) {
		c := keyed(newCommand(protocol.DoRestore, "", protocol.RestoreData{State: exportOf(r, r.create())}), "k1")
		first := must[protocol.CreateResult](r, r.do(anna, c))
		time.Sleep(2 * time.Hour)
		if again := must[protocol.CreateResult](r, r.do(anna, c)); again.Session != first.Session {
			t.Errorf("%s, first %s", again.Session, first.Session)
		}
		r.store.set(func() { r.store.failRead = func() error { return eventlog.ErrCorrupt } })
		refused(
			r,
			r.do(anna, keyed(newCommand(protocol.DoCreate, "", protocol.CreateData{}), "k2")),
			protocol.CodeStorage,
		)
		r.store.set(func() { r.store.failRead = nil })
	})
}

func TestNoEventTellsTheEnvironment(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		create := protocol.CreateData{Name: "box", Env: map[string]string{"TOKEN": "hush-hush"}}
		id := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", create))).Session
		r.restart()
		r.send(id, "one")
		if got := r.agents.run().agent.spec.Env["TOKEN"]; got != "hush-hush" {
			t.Errorf("the agent received %q", got)
		}
		out := protocol.MustEncode(r.hub.Sessions().List(true))
		a, err := json.Marshal(r.state(id))
		if err != nil || bytes.Contains(append(out, a...), []byte("hush-hush")) {
			t.Errorf("the environment is visible in %s %s, %v", out, a, err)
		}
		for _, e := range r.events(id, false) {
			if bytes.Contains(e.Data, []byte("hush-hush")) {
				t.Errorf("%s carries the environment: %s", e.Type, e.Data)
			}
		}
	})
}
