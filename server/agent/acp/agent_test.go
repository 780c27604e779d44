package acp

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp/rpc"
)

func TestATurnStreamsTextAndReasoningInTheirOrder(t *testing.T) {
	r := newTestAgent(t, "plain")
	r.run("say hello ") // starts the agent
	r.clear()
	end := r.run("think why", "think  not", "say a", "say b", "think hm",
		`update {"sessionUpdate":"agent_message_chunk","messageId":"m1","content":{"type":"text","text":"c"}}`,
		`update {"sessionUpdate":"agent_message_chunk","messageId":"m2","content":{"type":"text","text":"d"}}`,
		`usage {"inputTokens":11,"outputTokens":7,"cachedReadTokens":3,"thoughtTokens":2}`)
	r.wantEvents(`
reasoning.start {"part":"p1"}
reasoning.delta {"part":"p1","text":"why"}
reasoning.delta {"part":"p1","text":" not"}
reasoning.end {"part":"p1"}
text.start {"part":"p2"}
text.delta {"part":"p2","text":"a"}
text.delta {"part":"p2","text":"b"}
text.end {"part":"p2"}
reasoning.start {"part":"p3"}
reasoning.delta {"part":"p3","text":"hm"}
reasoning.end {"part":"p3"}
text.start {"part":"p4"}
text.delta {"part":"p4","text":"c"}
text.end {"part":"p4"}
text.start {"part":"p5"}
text.delta {"part":"p5","text":"d"}
`)
	if end.Reason != protocol.ReasonCompleted ||
		*end.Usage != (protocol.Usage{Input: 11, Output: 7, Cached: 3, Reasoning: 2}) {
		t.Errorf("ended %+v", end)
	}
}

func TestStopReasonsAreMapped(t *testing.T) {
	r := newTestAgent(t, "plain")
	for stop, want := range map[string]protocol.Reason{
		"end_turn": protocol.ReasonCompleted, "max_tokens": protocol.ReasonMaxTokens, "refusal": protocol.ReasonRefusal,
		"max_turn_requests": protocol.ReasonMaxRequests, "cancelled": protocol.ReasonInterrupted,
		"new_reason": protocol.ReasonCompleted,
	} {
		if end := r.run("stop " + stop); end.Reason != want {
			t.Errorf("%s ended as %s, want %s", stop, end.Reason, want)
		}
	}
}

func TestAnInterruptKeepsOutputAndProcess(t *testing.T) {
	r := newTestAgent(t, "plain")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		r.waitFor(t, "half", func() bool { return strings.Contains(textOf(r.events), "half") })
		cancel()
	}()
	end, err := r.tryRun(ctx, "say half", "hang")
	if err != nil || end.Reason != protocol.ReasonInterrupted {
		t.Errorf("ended %+v, %v", end, err)
	}
	r.run("sessions")
	r.wantText("halfprompts: 2")
	if len(r.groups) != 1 {
		t.Errorf("%d processes started", len(r.groups))
	}
}

func TestAnInterruptThatIsIgnoredEndsTheProcessAndTheNextTurnGoesOn(t *testing.T) {
	r := newTestAgent(t, "stubborn,resume",
		func(c *Config, _ *agent.Spec) { c.CancelTimeout, c.EndGrace = 50*time.Millisecond, time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		r.waitFor(t, "half", func() bool { return strings.Contains(textOf(r.events), "half") })
		cancel()
	}()
	end, err := r.tryRun(ctx, "say half", "deaf")
	if err != nil || end.Reason != protocol.ReasonInterrupted {
		t.Errorf("ended %+v, %v", end, err)
	}
	if len(r.groups) != 2 || !r.groups[1].Ended {
		t.Errorf("groups are %+v", r.groups)
	}
	if len(r.data(protocol.Notice)) != 1 {
		t.Error("no notice about the killed process")
	}
	r.run("sessions")
	r.wantText("halfprompts: 2")
}

func TestAnInterruptDuringTheStart(t *testing.T) {
	r := newTestAgent(t, "mute")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		r.waitFor(t, "a process", func() bool { return len(r.groups) > 0 })
		cancel()
	}()
	if end, err := r.tryRun(ctx, "say never"); err != nil || end.Reason != protocol.ReasonInterrupted {
		t.Errorf("ended %+v, %v", end, err)
	}
}

func TestAnAgentThatNeverAnswersTheStartTimesOut(t *testing.T) {
	r := newTestAgent(t, "mute", func(c *Config, _ *agent.Spec) { c.StartTimeout = 50 * time.Millisecond })
	if _, err := r.tryRun(t.Context(), "say never"); protocol.CodeOf(err) != protocol.CodeTimeout {
		t.Errorf("got %v", err)
	}
}

func TestErrorsIncludeTheRemedy(t *testing.T) {
	without := func(_ *Config, s *agent.Spec) { s.Env["GEMINI_API_KEY"] = "" }
	missing := func(c *Config, _ *agent.Spec) { c.Command, c.Install = []string{"no-such-agent"}, "get it" }
	for name, test := range map[string]struct {
		traits string
		change func(*Config, *agent.Spec)
		prompt string
		code   protocol.Code
		want   []string
	}{
		"a login wanted": {
			"auth", without, "", protocol.CodeAgentAuth,
			[]string{"Fake needs a login", "`fakeacp login`"},
		},
		"a login that is known": {
			"auth", func(c *Config, s *agent.Spec) { without(c, s); c.Login = "run x" }, "",
			protocol.CodeAgentAuth,
			[]string{"run x"},
		},
		"a program not there": {
			"plain", missing, "", protocol.CodeNoAgent,
			[]string{"not installed", "no-such-agent", "get it"},
		},
		"a directory not there": {
			"plain", func(_ *Config, s *agent.Spec) { s.CWD = "/no/such" }, "",
			protocol.CodeNoAgent,
			[]string{"/no/such"},
		},
		"another version": {"v2", nil, "", protocol.CodeAgentFailed, []string{"version 2"}},
		"an error of the agent": {
			"plain", nil, "fail 400 bad model", protocol.CodeAgentFailed,
			[]string{"Fake: bad model"},
		},
		"a login lost": {"plain", nil, "fail -32000 expired", protocol.CodeAgentAuth, []string{"login"}},
		"a program that crashes": {
			"plain", nil, "stderr out of luck\nexit 3", protocol.CodeAgentFailed,
			[]string{"exit status 3", "out of luck"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var changes []func(*Config, *agent.Spec)
			if test.change != nil {
				changes = append(changes, test.change)
			}
			r := newTestAgent(t, test.traits, changes...)
			_, err := r.tryRun(t.Context(), test.prompt)
			if protocol.CodeOf(err) != test.code {
				t.Errorf("got %v", err)
			}
			for _, w := range test.want {
				if err != nil && !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not contain %q", err, w)
				}
			}
		})
	}
}

func TestErrorTextOfTheAgent(t *testing.T) {
	for message, test := range map[string]struct{ data, want string }{
		"bad model":                           {"", "bad model"},
		"Internal error":                      {`{"details":"no credit"}`, "Internal error: no credit"},
		"Internal error: no credit":           {`{"message":"no credit"}`, "Internal error: no credit"},
		`{"error":{"message":"slow down"}}`:   {"", "slow down"},
		`{"error":"odd"}`:                     {`"odd"`, `{"error":"odd"}`},
		"with data that is a list of nothing": {`[]`, "with data that is a list of nothing"},
	} {
		if got := errorText(&rpc.Error{Message: message, Data: json.RawMessage(test.data)}); got != test.want {
			t.Errorf("%s with %s: got %s", message, test.data, got)
		}
	}
}

func TestCloseEndsATurnThatRunsOrStarts(t *testing.T) {
	for name, traits := range map[string]string{"runs": "plain", "starts": "mute"} {
		t.Run(name, func(t *testing.T) {
			r := newTestAgent(t, traits)
			failed := make(chan error)
			go func() {
				_, err := r.tryRun(t.Context(), "say here", "deaf")
				failed <- err
			}()
			r.waitFor(t, "a running process", func() bool {
				return len(r.groups) > 0 && (traits == "mute" || strings.Contains(textOf(r.events), "here"))
			})
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; protocol.CodeOf(err) != protocol.CodeShuttingDown {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAKeyInTheEnvironmentIsALogin(t *testing.T) {
	with := func(variable string) func(*Config, *agent.Spec) {
		return func(_ *Config, s *agent.Spec) { s.Env[variable] = "k" }
	}
	for _, variable := range []string{"FAKE_KEY", "GEMINI_API_KEY"} {
		r := newTestAgent(t, "auth", with(variable))
		r.run("say in")
		r.wantText("in")
	}
	t.Setenv("GEMINI_API_KEY", "")
	r := newTestAgent(t, "auth", with("OTHER_KEY"))
	if _, err := r.tryRun(t.Context(), "say no"); protocol.CodeOf(err) != protocol.CodeAgentAuth {
		t.Errorf("got %v", err)
	}
}

func TestACrashedAgentRestartsAndRestoresItsSession(t *testing.T) {
	for traits, want := range map[string]string{
		"resume": "prompts: 3", "load": "prompts: 3", "load,late": "prompts: 3",
		"load,resume": "prompts: 3", "plain": "prompts: 1",
	} {
		t.Run(traits, func(t *testing.T) {
			r := newTestAgent(t, traits)
			r.run("say one")
			if _, err := r.tryRun(t.Context(), "exit 1"); err == nil {
				t.Error("the crash went unnoticed")
			}
			r.clear()
			r.run("sessions")
			r.wantText(want) // without a replay
			if got := len(r.data(protocol.Raw)); got != 0 {
				t.Errorf("%d raw events of the replay", got)
			}
			if warned := len(r.data(protocol.Notice)) == 1; warned != (traits == "plain") {
				t.Errorf("warned: %v", warned)
			}
		})
	}
}

func TestARestartedServerRestoresTheACPSession(t *testing.T) {
	r := newTestAgent(t, "load")
	r.run("say one")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	next := r.restart("load")
	next.run("sessions")
	next.wantText("prompts: 2")

	quiet := newTestAgent(t, "modes")
	if err := quiet.Configure(t.Context(), "mode", "yolo"); err != nil {
		t.Fatal(err)
	}
	fresh := quiet.restart("modes")
	fresh.run("option mode")
	fresh.wantText("mode is yolo")
	if n := fresh.data(protocol.Notice); len(n) > 0 {
		t.Errorf("notice about an empty ACP session: %+v", n)
	}

	lost := r.restart("load")
	lost.saved.Session = "another"
	lost.run("sessions")
	lost.wantText("prompts: 1")
	if len(lost.data(protocol.Notice)) != 1 {
		t.Error("no notice about the lost ACP session")
	}
}

func TestARestoredSessionForksTheACPSession(t *testing.T) {
	for traits, want := range map[string]string{"load,fork": "-fork", "load": ""} {
		r := newTestAgent(t, traits, connected)
		r.run("say one")
		other := newTestAgent(t, traits, connected, func(_ *Config, s *agent.Spec) {
			s.Env = maps.Clone(r.spec.Env)
			s.Session, s.State = "another", r.state
		})
		other.run("sessions")
		other.wantText("prompts: 2")
		if got := strings.TrimPrefix(other.saved.Session, r.saved.Session); got != want {
			t.Errorf("with %s the ACP session is %s, the first one %s", traits, other.saved.Session, r.saved.Session)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		again := newTestAgent(t, traits, connected, func(_ *Config, s *agent.Spec) {
			s.Env = maps.Clone(r.spec.Env)
			s.Session, s.State = "another", other.state
		})
		again.run("sessions")
		again.wantText("prompts: 3")
		if again.saved.Session != other.saved.Session {
			t.Errorf("with %s forked again: %s", traits, again.saved.Session)
		}
	}
}

func TestTheProcessStartsWithTheFirstTurn(t *testing.T) {
	r := newTestAgent(t, "plain")
	if len(r.groups) != 0 {
		t.Error("a process before the first turn")
	}
	r.run("say hi", "say  there")
	if g := r.groups; len(g) != 1 || g[0].PID == 0 || g[0].Ended {
		t.Errorf("groups are %+v", g)
	}
}
