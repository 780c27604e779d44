package session

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// withStarter runs a test with agents that have a process.
func withStarter(t *testing.T, cfg Config, f func(t *testing.T, r *testHub, p *fakeStarter)) {
	t.Helper()
	bubble(t, cfg, func(t *testing.T, r *testHub) {
		p := &fakeStarter{}
		r.agents.starter = p
		f(t, r, p)
	})
}

// quickIdle unloads sessions after a minute and stops agents after an hour.
var quickIdle = Config{UnloadAfter: time.Minute, AgentIdle: time.Hour}

// counts returns how many processes were started and how many run.
func (f *fakeStarter) counts() (started, running int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.started, f.running
}

func (f *fakeStarter) want(t *testing.T, started, running int) {
	t.Helper()
	if s, r := f.counts(); s != started || r != running {
		t.Errorf("%d processes started and %d run, want %d and %d", s, r, started, running)
	}
}

// createWith creates a session.
func (r *testHub) createWith(d protocol.CreateData) *testCall {
	r.t.Helper()
	return r.do(anna, newCommand(protocol.DoCreate, "", d))
}

// process returns the process of a session's agent.
func (r *testHub) process(id string) *protocol.AgentProcess {
	r.t.Helper()
	return must[protocol.SnapshotResult](r, r.do(anna, newCommand(protocol.DoSnapshot, id, protocol.Empty{}))).Process
}

// look subscribes to a session.
func (r *testHub) look(id string) {
	r.t.Helper()
	r.hub.Attach(context.Background(), id, &testSubscriber{name: "c1"}, &protocol.SubscribeData{},
		func(_ *Attachment, err error) {
			if err != nil {
				r.t.Errorf("attach: %v", err)
			}
		})
	synctest.Wait()
}

// loaded reports whether a session is in memory.
func (r *testHub) loaded(id string) bool {
	return r.hub.list.Loaded(id) != nil
}

func noticesOf(t *testing.T, r *testHub, id string) (list []protocol.NoticeData) {
	t.Helper()
	for _, e := range r.events(id, false) {
		var d protocol.NoticeData
		if e.Type == protocol.Notice && e.Decode(&d) == nil {
			list = append(list, d)
		}
	}
	return list
}

func TestTheAgentStartsWithTheSession(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		id := r.create()
		p.want(t, 1, 1)
		if info := r.process(id); info.Phase != protocol.ProcessRunning || info.Since == nil {
			t.Errorf("process %+v", info)
		}
		r.send(id, "one")
		p.want(t, 1, 1)
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Delete: true})))
		p.want(t, 1, 0)
	})
}

func TestTheAgentOfALazySessionStartsWithTheFirstMessage(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		id := must[protocol.CreateResult](r, r.createWith(protocol.CreateData{Lazy: true, Check: true})).Session
		r.look(id)
		time.Sleep(time.Minute)
		p.want(t, 0, 0)
		if info := r.process(id); info.Phase != protocol.ProcessEnded || info.Idle {
			t.Errorf("process %+v", info)
		}
		r.send(id, "one")
		p.want(t, 1, 1)
	})
}

func TestTheAgentStartsForASubscriberAfterARestart(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		id := r.create()
		r.restart()
		p.want(t, 1, 0)
		r.look(id)
		r.hub.Detach(id, "c1", "")
		time.Sleep(time.Minute)
		p.want(t, 1, 0) // the subscription was too short
		r.look(id)
		time.Sleep(2 * lookTime)
		synctest.Wait()
		p.want(t, 2, 1)
	})
}

func TestAFailedStartIsANoticeAndTheNextMessageTriesAgain(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.refuse = protocol.Errorf(protocol.CodeAgentAuth, "it needs a login: run `it login`")
		id := r.create()
		r.look(id)
		time.Sleep(time.Minute)
		synctest.Wait()
		list := noticesOf(t, r, id)
		if len(list) != 1 || list[0].Code != protocol.CodeAgentAuth ||
			!strings.Contains(list[0].Message, "`it login`") {
			t.Fatalf("notices %+v", list)
		}
		if st := r.state(id); st.Closed || st.Status() != protocol.Idle {
			t.Errorf("the session is %s", st.Status())
		}
		p.set(func() { p.refuse = nil })
		r.send(id, "one")
		p.want(t, 1, 1)
		if r.agents.run() == nil {
			t.Error("no turn runs")
		}
	})
}

func TestACheckedSessionIsCreatedWhenItsAgentIsReady(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.block = make(chan struct{})
		p.choices = map[string]string{"mode": "plan"}
		create := newCommand(protocol.DoCreate, "", protocol.CreateData{
			Name: "n", Check: true, Prompt: "go", Settings: map[string]string{"mode": "plan", "model": "large"},
		})
		create.Key = "k"
		first, again := r.start(anna, create), make(chan *testCall, 1)
		go func() { again <- r.start(anna, create) }()
		r.waitIdle()
		if first.replies != 0 || len(r.hub.Sessions().List(true)) != 0 {
			t.Fatalf("answered %d times, %d sessions", first.replies, len(r.hub.Sessions().List(true)))
		}
		close(p.block)
		p.set(func() { p.block = nil })
		r.waitIdle()
		made := must[protocol.CreateResult](r, first)
		if same := must[protocol.CreateResult](r, <-again); same.Session != made.Session || made.Message == nil {
			t.Errorf("answered %+v and %+v", made, same)
		}
		if got := strings.Join(p.applied, " "); got != "mode=plan model=large" || r.agents.run() == nil {
			t.Errorf("applied %s", got)
		}
		if l := r.hub.Sessions().List(true); len(l) != 1 || l[0].Name != "n" || l[0].Turn != made.Message.Turn {
			t.Errorf("sessions %+v", l)
		}
		r.restart()
		if l := r.hub.Sessions().List(true); len(l) != 1 {
			t.Errorf("after a restart: %d sessions", len(l))
		}
	})
}

func TestNothingIsLeftOfASessionWhoseCheckFailed(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		create := protocol.CreateData{
			Name: "n", Check: true, Prompt: "go", Settings: map[string]string{"mode": "yolo"},
		}
		p.choices = map[string]string{"mode": "plan"}
		e := refused(r, r.createWith(create), protocol.CodeInvalidMessage)
		if !strings.Contains(e.Message, "choose plan") {
			t.Errorf("refused with %q", e.Message)
		}
		p.want(t, 1, 0)
		p.set(func() { p.refuse = protocol.Errorf(protocol.CodeNoAgent, "not installed") })
		refused(r, r.createWith(create), protocol.CodeNoAgent)
		if l := r.hub.Sessions().List(true); len(l) != 0 {
			t.Errorf("sessions %+v", l)
		}
		if n := len(r.store.sessions); n != 0 {
			t.Errorf("%d sessions are stored", n)
		}
		p.set(func() { p.refuse = nil })
		create.Settings["mode"] = "plan"
		must[protocol.CreateResult](r, r.createWith(create)) // the name is free
	})
}

func TestASessionThatIsCheckedWhenTheServerEndsIsNotThereAfterwards(t *testing.T) {
	for _, how := range []string{"killed", "stopped"} {
		t.Run(how, func(t *testing.T) {
			withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
				p.block = make(chan struct{})
				call := r.start(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Name: "n", Check: true}))
				r.waitIdle()
				go func() {
					time.Sleep(time.Second)
					close(p.block)
				}()
				if how == "killed" {
					r.kill()
				} else {
					r.restart()
				}
				if call.replies != 1 || protocol.CodeOf(call.err) != protocol.CodeShuttingDown {
					t.Errorf("answered %d times, %v", call.replies, call.err)
				}
				r.waitIdle()
				if l := r.hub.Sessions().List(true); len(l) != 0 || len(r.store.sessions) != 0 {
					t.Errorf("sessions %+v, %d stored", l, len(r.store.sessions))
				}
				p.set(func() { p.block = nil })
				must[protocol.CreateResult](r, r.createWith(protocol.CreateData{Name: "n"}))
			})
		})
	}
}

func TestSettingsOfALazySessionAreAppliedBeforeTheFirstTurn(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.choices = map[string]string{"mode": "plan"}
		id := must[protocol.CreateResult](r, r.createWith(protocol.CreateData{
			Lazy: true, Settings: map[string]string{"mode": "yolo", "model": "large"},
		})).Session
		r.restart()
		r.send(id, "one")
		if last := r.state(id).Last; last == nil || last.Code != protocol.CodeInvalidMessage {
			t.Fatalf("the turn ended with %+v", last) // never with another mode than the chosen one
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoConfigure, id,
			protocol.ConfigureData{Setting: "mode", Value: "plan"})))
		r.send(id, "two")
		if r.agents.run() == nil {
			t.Errorf("no turn runs: %+v", r.state(id).Last)
		}
		r.restart()
		n := len(p.applied)
		r.send(id, "three")
		if len(p.applied) != n {
			t.Errorf("applied again: %v", p.applied[n:])
		}
	})
}

func TestSettingsOfAnAgentWithoutSettingsAreRefused(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		refused(r, r.createWith(protocol.CreateData{Settings: map[string]string{"mode": "plan"}}),
			protocol.CodeUnsupported)
		must[protocol.CreateResult](r, r.createWith(protocol.CreateData{Check: true}))
	})
}

func TestAnIdleAgentThatRestoresEndsAfterAWhile(t *testing.T) {
	withStarter(t, quickIdle, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.restores = true
		id := r.create()
		time.Sleep(50 * time.Minute)
		synctest.Wait()
		p.want(t, 1, 1)
		if !r.loaded(id) {
			t.Error("unloaded while its agent runs")
		}
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		p.want(t, 1, 0)
		if r.loaded(id) {
			t.Error("not unloaded")
		}
		r.restart()
		if info := r.process(id); info.Phase != protocol.ProcessEnded || !info.Idle || info.Since == nil {
			t.Errorf("process %+v", info)
		}
		r.send(id, "one")
		p.want(t, 2, 1)
		if info := r.process(id); info.Phase != protocol.ProcessRunning || info.Idle {
			t.Errorf("process %+v", info)
		}
	})
}

func TestAnIdleAgentThatCannotRestoreIsNotEnded(t *testing.T) {
	withStarter(t, quickIdle, func(t *testing.T, r *testHub, p *fakeStarter) {
		r.create()
		time.Sleep(1000 * time.Hour)
		synctest.Wait()
		p.want(t, 1, 1)
	})
}

func TestTheNextAgentStartsAfterTheFormerIsGone(t *testing.T) {
	withStarter(t, quickIdle, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.restores = true
		id := r.create()
		block := make(chan struct{})
		p.set(func() { p.block = block })
		time.Sleep(90 * time.Minute)
		synctest.Wait()
		p.want(t, 1, 1) // it is closing
		r.send(id, "one")
		p.want(t, 1, 1)
		p.set(func() { p.block = nil })
		close(block)
		r.waitIdle()
		p.want(t, 2, 1)
	})
}

func TestASessionIsBusyWhileAProcessOfItsAgentRuns(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.create()
		host := r.agents.opened[0].host
		g := agent.ProcessGroup{PID: 7, Start: "now"}
		if err := host.RecordProcessGroup(g); err != nil || r.hub.processes.Len() != 1 {
			t.Errorf("%v, busy %d", err, r.hub.processes.Len())
		}
		g.Ended = true
		if err := host.RecordProcessGroup(g); err != nil || r.hub.processes.Len() != 0 {
			t.Errorf("%v, busy %d", err, r.hub.processes.Len())
		}
	})
}

func TestARefusedNameStaysWithItsSession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		first := must[protocol.CreateResult](r, r.createWith(protocol.CreateData{Name: "n"}))
		refused(r, r.createWith(protocol.CreateData{Name: "n"}), protocol.CodeNameTaken)
		if id, err := r.hub.Sessions().Resolve("n"); err != nil || id != first.Session {
			t.Errorf("n is %s, %v", id, err)
		}
	})
}

// The output and saved state of a closed agent no longer reach the session.
func TestAClosedAgentSavesNothing(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		old := r.agents.run()
		if err := old.agent.host.Save([]byte("kept")); err != nil {
			t.Fatal(err)
		}
		r.waitIdle()
		r.failOnce() // closes the agent
		r.start(anna, newCommand(protocol.DoRename, id, protocol.RenameData{}))
		time.Sleep(2 * time.Second)
		r.waitIdle()
		title := "late"
		_ = old.agent.host.Save([]byte("late"))
		_ = old.agent.host.Emit(agent.Event{
			Type: protocol.SessionUpdated, Data: protocol.SessionUpdatedData{Title: &title},
		})
		r.waitIdle()
		r.send(id, "two")
		if got := string(r.agents.run().agent.spec.State); got != "kept" {
			t.Errorf("the next agent continues from %q", got)
		}
		if got := r.state(id).Title; got != "" {
			t.Errorf("title %q", got)
		}
	})
}

// The directories are not stored with the session: a loaded session gets the server's.
func TestTheAgentOfALoadedSessionKnowsAgentctlsOwnDirectories(t *testing.T) {
	own := []string{"/var/lib/agentctl"}
	bubble(t, Config{Files: Files{OwnDirectories: own}}, func(t *testing.T, r *testHub) {
		id := r.create()
		for range 2 {
			r.send(id, "go")
			run := r.agents.run()
			if got := run.agent.spec.OwnDirectories; !slices.Equal(got, own) {
				t.Errorf("the agent has %q", got)
			}
			run.finish(agent.End{}, nil)
			r.waitIdle()
			r.restart()
		}
	})
}
