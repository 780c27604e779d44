package session

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// lines holds ephemeral events.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) notify(_ string, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, string(line))
}

// want fails the test unless the last line is an agent.process with a text.
func (l *lines) want(t *testing.T, text string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.all); n == 0 || !strings.Contains(l.all[n-1], `"agent.process"`) || !strings.Contains(l.all[n-1], text) {
		t.Errorf("got %q, want %s", l.all, text)
	}
}

// step reports a step of the start of the agent opened last.
func (r *testHub) step(step string) {
	r.agents.opened[len(r.agents.opened)-1].host.(agent.StartWatcher).Starting(step)
	synctest.Wait()
}

func TestACreationThatWaitsForItsAgentIsSentTheSteps(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.block = make(chan struct{})
		var got lines
		who := anna
		who.Notify = got.notify
		k := r.start(who, newCommand(protocol.DoCreate, "", protocol.CreateData{Check: true}))
		got.want(t, `"phase":"starting","since"`)
		r.step(protocol.StepInitialize)
		time.Sleep(3 * time.Second)
		r.step(protocol.StepSession)
		got.want(t, `"step":"session","step_at":`)
		close(p.block)
		r.waitIdle()
		must[protocol.CreateResult](r, k)
		n := len(got.all)
		r.step(protocol.StepSession) // later ones are for subscribers
		if len(got.all) != n {
			t.Errorf("after the answer: %q", got.all[n:])
		}
	})
}

// Subscribers see the steps live, a late one the current step, and all of them the end of the start.
func TestSubscribersSeeTheStepsOfAStart(t *testing.T) {
	withStarter(t, Config{}, func(t *testing.T, r *testHub, p *fakeStarter) {
		p.block = make(chan struct{})
		id := r.create()
		early := attachMany(t, r, id, 1)[0]
		began := time.Now()
		r.step(protocol.StepStart)
		time.Sleep(2 * time.Second)
		r.step(protocol.StepSession)
		wantLast := func(l *testSubscriber, text string) {
			t.Helper()
			l.mu.Lock()
			defer l.mu.Unlock()
			if n := len(l.notified); n == 0 || !strings.Contains(l.notified[n-1], text) {
				t.Errorf("%s got %q, want %s", l.name, l.notified, text)
			}
		}
		wantLast(early, `"step":"session"`)
		var late *protocol.AgentProcess
		r.hub.Attach(t.Context(), id, &testSubscriber{name: "late"}, &protocol.SubscribeData{}, func(a *Attachment, err error) {
			if err != nil {
				t.Error(err)
				return
			}
			late = a.Result.Process
		})
		r.waitIdle()
		for _, got := range []*protocol.AgentProcess{late, r.process(id)} {
			if got == nil || got.Step != protocol.StepSession || !got.StepAt.Equal(began.Add(2*time.Second)) || !got.Since.Equal(began) {
				t.Errorf("late: %s", protocol.MustEncode(got))
			}
		}
		close(p.block)
		r.waitIdle()
		wantLast(early, `"phase":"running"`)
		if got := r.process(id); got.Step != "" || got.Phase != protocol.ProcessRunning {
			t.Errorf("running: %s", protocol.MustEncode(got))
		}
	})
}
