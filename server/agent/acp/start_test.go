package acp

import (
	"context"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestSettingsAndCommandsAreKnownBeforeTheFirstTurn(t *testing.T) {
	r := newTestAgent(t, "modes,models")
	if p := r.Process(); p.Running {
		t.Errorf("process %+v before the start", p)
	}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, "commands", func() bool {
		return len(r.events) > 0 && len(r.events[len(r.events)-1].Data.(protocol.Options).Commands) == 1
	})
	o := r.events[len(r.events)-1].Data.(protocol.Options)
	if o.Name != "Fake Agent" || len(o.Settings) != 2 || o.Settings[0].Value != "ask" ||
		len(o.Settings[0].Choices) != 2 {
		t.Errorf("options %+v", o)
	}
	if err := r.Start(t.Context()); err != nil || len(r.groups) != 1 {
		t.Errorf("started again: %v, groups %+v", err, r.groups)
	}
	r.run("sessions")
	r.wantText("prompts: 1")
	if err := r.Close(); err != nil || r.Process().Running {
		t.Errorf("after Close: %v, %+v", err, r.Process())
	}
}

func TestAProcessMayEndWhenIdleIfALaterOneRestoresItsSession(t *testing.T) {
	for traits, want := range map[string]bool{"plain": false, "load": true, "resume": true, "fork": false} {
		r := newTestAgent(t, traits)
		if err := r.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := r.Process(); !p.Running || !p.Restores || time.Since(p.Since) > time.Minute {
			t.Errorf("%s: process %+v before the first prompt", traits, p)
		}
		r.run("say x")
		if p := r.Process(); p.Restores != want {
			t.Errorf("%s: process %+v after a prompt", traits, p)
		}
		_, _ = r.tryRun(t.Context(), "exit 0")
		if p := r.Process(); p.Running {
			t.Errorf("%s: process %+v after its end", traits, p)
		}
	}
}

func TestAFailedStartLeavesNoProcessAndTheNextOneTriesAgain(t *testing.T) {
	r := newTestAgent(t, "auth", func(_ *Config, s *agent.Spec) { s.Env["GEMINI_API_KEY"] = "" })
	for range 2 {
		if err := r.Start(t.Context()); protocol.CodeOf(err) != protocol.CodeAgentAuth {
			t.Fatalf("started: %v", err)
		}
	}
	if p := r.Process(); p.Running || len(r.groups) != 4 || !r.groups[1].Ended || !r.groups[3].Ended {
		t.Errorf("process %+v, groups %+v", p, r.groups)
	}
	r.spec.Env["FAKE_KEY"] = "k"
	if err := r.Start(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnAgentThatSaysThatNobodyIsLoggedInIsNotReady(t *testing.T) {
	r := newTestAgent(t, "loggedout")
	if err := r.Start(t.Context()); protocol.CodeOf(err) != protocol.CodeAgentAuth ||
		!strings.Contains(err.Error(), "--env") || !strings.Contains(err.Error(), "pass_env") {
		t.Errorf("started: %v", err)
	}
	r.run("say hello") // the agent itself decides whether it can
	in := newTestAgent(t, "loggedout", func(_ *Config, s *agent.Spec) { s.Env["FAKE_KEY"] = "k" })
	if err := in.Start(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCloseEndsAStart(t *testing.T) {
	r := newTestAgent(t, "mute")
	started := make(chan error, 1)
	go func() { started <- r.Start(context.Background()) }()
	r.waitFor(t, "a process", func() bool { return len(r.groups) > 0 })
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-started; protocol.CodeOf(err) != protocol.CodeShuttingDown {
		t.Errorf("started: %v", err)
	}
}

func TestSettingsMadeBeforeTheFirstPromptSurviveARestart(t *testing.T) {
	r := newTestAgent(t, "resume,config")
	if err := r.Configure(t.Context(), "effort", "high"); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	next := r.restart("resume,config")
	next.run("option effort")
	next.wantText("effort is high")
	if err := next.Close(); err != nil {
		t.Fatal(err)
	}
	last := next.restart("resume,config")
	last.run("option effort", "sessions")
	if !strings.HasPrefix(last.text(), "effort is high") {
		t.Errorf("text %q", last.text())
	}
}
