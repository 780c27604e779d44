package pipeline

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

// setting returns a setting of the latest agent.options.
func (r *rig) setting(id string) protocol.Setting {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found protocol.Setting
	for _, e := range r.events {
		if o, ok := e.Data.(protocol.Options); ok {
			for _, s := range o.Settings {
				if s.ID == id {
					found = s
				}
			}
		}
	}
	return found
}

func TestSettingsShowAgentsAndLimits(t *testing.T) {
	r := newRig(t, planned("a"))
	r.options.Config.Limits.Task = Limits{Time: Duration(20 * time.Minute), Cost: 2}
	r.open()
	if err := r.agent.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"parallel": "4", "confirm": "on", "planner": "planner", "solver": "solver", "aggregator": "solver",
		"task_limits": "20m0s, cost 2", "turn_limits": "",
	} {
		if s := r.setting(id); s.Value != want || s.Default != want {
			t.Errorf("%s is %+v, want %q", id, s, want)
		}
	}
	if p := r.agent.Process(); !p.Running || !p.Restores {
		t.Errorf("%+v", p)
	}
	n := len(r.events)
	if err := r.agent.Start(t.Context()); err != nil || len(r.events) != n {
		t.Errorf("started again: %v, %d events", err, len(r.events)-n)
	}
}

func TestMoreTasksAtOnceStartImmediately(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, func(ctx context.Context, s *step) (agent.End, error) {
			if s.role == "solver" {
				return agent.End{}, wait(ctx, time.Hour)
			}
			return planned("a", "b", "c", "d")(ctx, s)
		})
		r.options.Config.Parallel = 1
		r.open()
		ended := make(chan error, 1)
		go func() {
			_, err := r.send(t.Context(), "do it")
			ended <- err
		}()
		synctest.Wait()
		want := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := r.statuses(); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
		want("a running, b pending, c pending, d pending")
		if err := r.agent.Configure(t.Context(), "parallel", "3"); err != nil {
			t.Fatal(err)
		}
		want("a running, b running, c running, d pending")
		if err := r.agent.Configure(t.Context(), "parallel", "1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		want("a completed, b completed, c completed, d running")
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	})
}

func TestChangedSettingsHoldAfterARestart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := newRig(t, planned("a"))
		r.open()
		for setting, value := range map[string]string{"confirm": "off", "parallel": "7"} {
			if err := r.agent.Configure(t.Context(), setting, value); err != nil {
				t.Fatal(err)
			}
		}
		r.open()
		if _, err := r.send(t.Context(), "do it"); err != nil || len(r.asked) != 0 {
			t.Errorf("asked %d times, %v", len(r.asked), err)
		}
		s := r.setting("parallel")
		if s.Value != "7" || s.Default != "4" || len(s.Choices) != 8 {
			t.Errorf("%+v", s)
		}
		if err := r.agent.Configure(t.Context(), "confirm", "on"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.send(t.Context(), "again"); err != nil || len(r.asked) != 1 {
			t.Errorf("asked %d times, %v", len(r.asked), err)
		}
	})
}

func TestWrongSettingsAreRefused(t *testing.T) {
	r := newRig(t, planned("a"))
	r.open()
	for _, c := range []struct {
		setting, value string
		code           protocol.Code
	}{
		{"parallel", "0", protocol.CodeInvalidMessage},
		{"parallel", "65", protocol.CodeInvalidMessage},
		{"parallel", "many", protocol.CodeInvalidMessage},
		{"confirm", "maybe", protocol.CodeInvalidMessage},
		{"solver", "other", protocol.CodeUnsupported},
		{"model", "x", protocol.CodeNotFound},
	} {
		if err := r.agent.Configure(t.Context(), c.setting, c.value); protocol.CodeOf(err) != c.code {
			t.Errorf("%s %s: %v", c.setting, c.value, err)
		}
	}
	if r.saved != nil {
		t.Errorf("saved %s", r.saved)
	}
}

// A startingAgent is a fakeAgent with a start.
type startingAgent struct {
	fakeAgent
	start func(ctx context.Context) error
}

func (s *startingAgent) Start(ctx context.Context) error { return s.start(ctx) }
func (s *startingAgent) Process() agent.Process          { return agent.Process{} }

// startRig returns a rig whose agents start with a function of the test.
func startRig(t *testing.T, start func(ctx context.Context, agent string) error) *rig {
	r := newRig(t, planned("a"))
	r.options.Open = func(spec agent.Spec, host agent.Host) (agent.Agent, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.opened++
		return &startingAgent{fakeAgent{rig: r, spec: spec, host: host}, func(ctx context.Context) error {
			return start(ctx, spec.Agent)
		}}, nil
	}
	return r
}

func TestANewSessionNeedsAgentsThatStart(t *testing.T) {
	missing := protocol.Errorf(protocol.CodeAgentAuth, "no login: log in with claude")
	for _, checking := range []bool{true, false} {
		r := startRig(t, func(_ context.Context, agent string) error {
			if agent == "solver" {
				return missing
			}
			return nil
		})
		r.openWith(agent.Spec{Session: "s", Checking: checking})
		err := r.agent.Start(t.Context())
		switch {
		case !checking && err != nil:
			t.Error(err)
		case checking && (protocol.CodeOf(err) != protocol.CodeAgentAuth ||
			!strings.Contains(err.Error(), "solver, the solver and aggregator of team: no login: log in with claude")):
			t.Error(err)
		}
		if r.opened != r.closed {
			t.Errorf("%d agents were opened, %d closed", r.opened, r.closed)
		}
		if p := r.agent.Process(); p.Running == checking {
			t.Errorf("%+v", p)
		}
	}
}

func TestCloseEndsAStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		r := startRig(t, func(ctx context.Context, _ string) error {
			return wait(ctx, time.Hour)
		})
		r.openWith(agent.Spec{Session: "s", Checking: true})
		started := make(chan error, 1)
		go func() { started <- r.agent.Start(context.Background()) }()
		synctest.Wait()
		if err := r.agent.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-started; protocol.CodeOf(err) != protocol.CodeShuttingDown {
			t.Error(err)
		}
		if r.opened != r.closed {
			t.Errorf("%d agents were opened, %d closed", r.opened, r.closed)
		}
	})
}

// The directories that no policy lets agents change are closed to the agents of roles too.
func TestAgentsOfRolesHaveTheDirectoriesOfTheServer(t *testing.T) {
	r := newRig(t, planned("a"))
	open, own := r.options.Open, []string{"/data"}
	r.options.Open = func(spec agent.Spec, host agent.Host) (agent.Agent, error) {
		if !slices.Equal(spec.OwnDirectories, own) {
			t.Errorf("%s has %q, want %q", spec.Agent, spec.OwnDirectories, own)
		}
		return open(spec, host)
	}
	r.openWith(agent.Spec{Session: "s", OwnDirectories: own})
}
