package slot

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// fakeAgent is an agent without a process or settings.
type fakeAgent struct{ agent.Agent }

func (fakeAgent) Capabilities() agent.Capabilities { return agent.Capabilities{Resumes: true} }

// processAgent has a process and settings. It accepts each setting once the one before was applied.
type processAgent struct {
	fakeAgent
	started int
	process agent.Process
	applied []string
	order   []string
}

func (a *processAgent) Start(context.Context) error { a.started++; return nil }

func (a *processAgent) Process() agent.Process { return a.process }

func (a *processAgent) Configure(_ context.Context, setting, _ string) error {
	if n := len(a.applied); n < len(a.order) && a.order[n] == setting {
		a.applied = append(a.applied, setting)
		return nil
	}
	return errors.New("refused")
}

func TestAnAgentStartsAfterTheFormerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Slot
		if !s.Startable(nil) || !s.Idle() {
			t.Error("an empty slot")
		}
		s.Put(fakeAgent{}, nil)
		if !s.Capabilities().Resumes || s.Startable(nil) {
			t.Error("an agent without a process")
		}
		_, first := s.Take()
		s.Put(fakeAgent{}, nil)
		_, second := s.Take()
		next := &processAgent{}
		s.Put(next, nil)
		prepared := make(chan error, 1)
		go func() { prepared <- s.Preparation().Prepare(t.Context(), next, true, nil) }()
		go second()
		synctest.Wait()
		if s.Idle() || next.started != 0 {
			t.Error("started while a former agent is left")
		}
		first()
		if err := <-prepared; err != nil || next.started != 1 {
			t.Errorf("%v, started %d times", err, next.started)
		}
		if !s.Idle() {
			t.Error("the former agents are gone")
		}
	})
}

func TestAWaitForTheFormerAgentEndsWithItsContext(t *testing.T) {
	var s Slot
	s.Put(fakeAgent{}, nil)
	_, gone := s.Take()
	s.Put(fakeAgent{}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Preparation().Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	gone()
	if err := s.Preparation().Wait(t.Context()); err != nil {
		t.Errorf("after the former agent: %v", err)
	}
}

func TestSettingsAreAppliedInAnyOrderThatTheAgentAccepts(t *testing.T) {
	for name, c := range map[string]struct {
		order []string
		left  map[string]string
		fails bool
	}{
		"backwards":   {[]string{"c", "b", "a"}, map[string]string{}, false},
		"one refused": {[]string{"b", "a"}, map[string]string{"c": "3"}, true},
	} {
		var s Slot
		a := &processAgent{order: c.order}
		s.Put(a, map[string]string{"a": "1", "b": "2", "c": "3"})
		var left map[string]string
		err := s.Preparation().Prepare(t.Context(), a, false, func(l map[string]string) { left = l })
		if (err != nil) != c.fails || !slices.Equal(a.applied, c.order) || len(left) != len(c.left) || a.started != 1 {
			t.Errorf("%s: %v, applied %v, left %v", name, err, a.applied, left)
		}
	}
	var s Slot
	s.Put(fakeAgent{}, map[string]string{"a": "1"})
	err := s.Preparation().Prepare(t.Context(), s.Agent(), false, func(map[string]string) {})
	if protocol.CodeOf(err) != protocol.CodeUnsupported {
		t.Errorf("an agent without settings: %v", err)
	}
	if err := s.Preparation().Forget(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	if err := s.Preparation().Prepare(t.Context(), s.Agent(), false, nil); err != nil {
		t.Errorf("forgotten: %v", err)
	}
}

func TestClientsAreShownTheProcess(t *testing.T) {
	at := time.Unix(1e9, 0)
	running := agent.Process{Running: true, Since: at, Restores: true}
	for name, c := range map[string]struct {
		agent    agent.Agent
		starting bool
		idleEnd  *time.Time
		phase    string
	}{
		"no agent":             {nil, false, nil, protocol.ProcessEnded},
		"ended when idle":      {nil, false, &at, protocol.ProcessEnded},
		"no process":           {fakeAgent{}, false, nil, ""},
		"before its start":     {&processAgent{}, false, nil, protocol.ProcessEnded},
		"starting":             {&processAgent{}, true, nil, protocol.ProcessStarting},
		"starting, not opened": {nil, true, nil, protocol.ProcessStarting},
		"running":              {&processAgent{process: running}, false, nil, protocol.ProcessRunning},
	} {
		var s Slot
		if c.agent != nil {
			s.Put(c.agent, nil)
		}
		s.SetStarting(c.starting, time.Now())
		info := s.Info(c.idleEnd)
		if c.phase == "" && info == nil {
			continue
		}
		if info == nil || info.Phase != c.phase || info.Idle != (c.idleEnd != nil) {
			t.Errorf("%s: %+v", name, info)
		}
	}
}
