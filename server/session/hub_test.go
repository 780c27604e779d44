package session

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

// testWatcher keeps the newest line of each key.
type testWatcher struct{ lines map[string]string }

func (b *testWatcher) Notify(key string, line []byte) { b.lines[key] = string(line) }

func TestWatchersAreToldWhatTheListSays(t *testing.T) {
	bubble(t, Config{UnloadAfter: time.Minute}, func(t *testing.T, r *testHub) {
		w := &testWatcher{map[string]string{}}
		r.hub.Sessions().Watch(w)
		id := startAsking(r, protocol.Approval{Kind: protocol.ApproveQuestion, Title: "?"})
		agree := func(status protocol.Status) {
			t.Helper()
			r.waitIdle()
			list := r.hub.Sessions().List(true)
			notified := decodeLines(t, []byte(w.lines["summary "+id]))
			if len(notified) != 1 || !bytes.Equal(notified[0].Data, protocol.MustEncode(list[0])) ||
				list[0].Status != status {
				t.Errorf("notified %s, list %s, want %s", w.lines, protocol.MustEncode(list), status)
			}
		}
		agree(protocol.Waiting)
		if r.hub.list.Busy() != 1 {
			t.Error("not busy")
		}
		must[protocol.ApproveResult](r, r.do(bert, approve(id, protocol.ApproveData{Decision: protocol.AllowOnce})))
		agree(protocol.Running)
		r.agents.run().emit(
			agent.Event{Type: protocol.ToolStarted, Data: protocol.ToolStartedData{Tool: "t", Title: "Look around"}},
		)
		agree(protocol.Running)
		if got := r.hub.Sessions().List(true)[0].Doing; got != "Look around" {
			t.Errorf("doing %q", got)
		}
		r.agents.run().finish(agent.End{}, nil)
		agree(protocol.Idle)
		time.Sleep(2 * time.Minute)
		agree(protocol.Idle)
		r.kill()
		w = &testWatcher{map[string]string{}}
		r.hub.Sessions().Watch(w)
		if l := r.hub.Sessions().List(true); len(l) != 1 || l[0].Status != protocol.Idle {
			t.Errorf("after a restart: %+v", l)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true})))
		notified := decodeLines(t, []byte(w.lines["summary "+id]))
		if len(notified) != 1 || !bytes.Contains(notified[0].Data, []byte(`"deleted":true`)) ||
			len(r.hub.Sessions().List(true)) != 0 {
			t.Errorf("after the session was deleted: %s", w.lines)
		}
	})
}

func TestANameIsOfOneSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		create := func(name string) *testCall {
			return r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Name: name}))
		}
		must[protocol.CreateResult](r, create("box"))
		refused(r, create("box"), protocol.CodeNameTaken)
		refused(r, create("\x00"), protocol.CodeInvalidMessage)
		r.agents.refuse = protocol.Errorf(protocol.CodeNoAgent, "none")
		refused(r, create("fox"), protocol.CodeNoAgent)
		r.agents.refuse = nil
		must[protocol.CreateResult](r, create("fox"))
	})
}

func TestASessionIsMadeOfWhatCanBe(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		dir := t.TempDir()
		for name, d := range map[string]protocol.CreateData{
			"no name":          {Env: map[string]string{"": "x"}},
			"a name with =":    {Env: map[string]string{"a=b": "x"}},
			"a name with NUL":  {Env: map[string]string{"a\x00": "x"}},
			"a value with NUL": {Env: map[string]string{"a": "x\x00"}},
			"a relative path":  {CWD: "."},
			"no directory":     {CWD: filepath.Join(dir, "nowhere")},
		} {
			k := r.do(anna, newCommand(protocol.DoCreate, "", d))
			if protocol.CodeOf(k.err) != protocol.CodeInvalidMessage {
				t.Errorf("%s: %s, %v", name, k.body, k.err)
			}
		}
		if err := refused(
			r,
			r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: strings.Repeat("x", maxAgent+1)})),
			protocol.CodeTooLarge,
		); err.Limit != maxAgent {
			t.Errorf("a long agent: %+v", err)
		}
		huge := r.do(
			anna,
			newCommand(
				protocol.DoCreate,
				"",
				protocol.CreateData{Name: "n", Prompt: strings.Repeat("x", protocol.MaxEvent)},
			),
		)
		refused(r, huge, protocol.CodeTooLarge)
		r.waitIdle()
		if a := r.agents.opened[len(r.agents.opened)-1]; !a.gone {
			t.Error("the agent of a failed create was not closed")
		}
		stranger := Caller{By: protocol.Actor{Name: strings.Repeat("x", record.MaxActor+1)}}
		refused(r, r.do(stranger, newCommand(protocol.DoCreate, "", protocol.CreateData{})), protocol.CodeTooLarge)
		d := protocol.CreateData{
			Env:             map[string]string{"A": "x=y"},
			CWD:             dir,
			Prompt:          "go",
			ClientMessageID: "c",
			Title:           "t",
			Name:            "n",
		}
		made := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", d)))
		if made.Message == nil || made.Message.Status != protocol.SendStarted || made.Name != "n" {
			t.Errorf("created %+v", made)
		}
		st := r.state("n")
		if st.Session != made.Session || st.CWD != dir || st.Title != "t" || st.Agent != "fake" ||
			st.Turn.Message.ClientMessageID != "c" {
			t.Errorf("state %s", encodeState(st))
		}
		if spec := r.agents.run().agent.spec; spec.Env["A"] != "x=y" || spec.CWD != dir ||
			spec.Session != made.Session {
			t.Errorf("opened with %+v", spec)
		}
		must[protocol.Empty](
			r,
			r.do(anna, newCommand(protocol.DoRename, "n", protocol.RenameData{Name: new("n")})),
		) // its own
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoRename, "n", protocol.RenameData{Name: new("m")})))
		must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Name: "n"})))
	})
}

func TestAServerWithoutASecretMakesOne(t *testing.T) {
	var a, b Config
	a.defaults()
	b.defaults()
	if len(a.Secret) < 16 || bytes.Equal(a.Secret, b.Secret) {
		t.Errorf("secrets of %d and %d bytes", len(a.Secret), len(b.Secret))
	}
}

// Close ends the upkeep of the store, whatever it does.
func TestTheUpkeepOfTheStoreDelaysNoClose(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.store.set(func() { r.store.slowPrune = true })
		r.restart()
		began := time.Now()
		r.close()
		if took := time.Since(began); took > 0 {
			t.Errorf("closed after %s", took)
		}
		r.open()
	})
}
