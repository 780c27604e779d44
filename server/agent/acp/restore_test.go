package acp

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/fakeacp"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// prompts returns the prompts that the agent got, from the files of its ACP sessions.
func (r *testAgent) prompts() []string {
	r.t.Helper()
	file := filepath.Join(r.spec.Env[fakeacp.DirEnvVar], decodeState(r.state).Session+".json")
	b, err := os.ReadFile(file)
	if err != nil {
		r.t.Fatal(err)
	}
	var saved fakeacp.Saved
	if err := json.Unmarshal(b, &saved); err != nil {
		r.t.Fatal(err)
	}
	return saved.Prompts
}

// notices returns the texts of the notices.
func (r *recorder) notices() string {
	var list []string
	for _, d := range r.data(protocol.Notice) {
		list = append(list, d.(protocol.NoticeData).Message)
	}
	return strings.Join(list, "\n")
}

func TestARefusedRestoreIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saved := state{Session: "s", Prompted: true}
		played := make(chan error, 1)
		a, r := dialedAgent(t, agent.Spec{Session: "ses", CWD: "/w", State: saved.encode()}, func(lines *lineScript) {
			lines.answer("initialize", `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`)
			for range 2 {
				lines.respond("session/load",
					`"error":{"code":-32603,"message":"Internal error","data":{"details":"Invalid session identifier"}}`)
			}
			lines.answer("session/load", `{}`)
			lines.answer("session/prompt", `{"stopReason":"end_turn"}`)
			played <- lines.err
		})
		began := time.Now()
		if end, err := a.Run(t.Context(), turnOf("two"), r); err != nil || end.Reason != protocol.ReasonCompleted {
			t.Errorf("ended %+v, %v", end, err)
		}
		if took := time.Since(began); took < 3*restorePause {
			t.Errorf("restored after %v", took)
		}
		if err := errors.Join(<-played, a.Close()); err != nil {
			t.Error(err)
		}
		got := r.notices()
		if !strings.Contains(got, "Internal error: Invalid session identifier") || !strings.Contains(got, "trying again") ||
			strings.Count(got, "\n") != 0 {
			t.Errorf("notices: %s", got)
		}
		if s := decodeState(r.state); len(r.state) > 0 && s.Session != "s" {
			t.Errorf("the ACP session is %s", s.Session)
		}
	})
}

func TestAnAgentThatLostItsConversationGetsTheTranscript(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ traits, reason string }{
		"gone":                 {"load", "no such session"},
		"refused for too long": {"load,slow", "Invalid session identifier"},
		"cannot restore":       {"plain", "neither session/resume nor session/load"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newTestAgent(t, "load", connected)
			r.run("say one")
			if test.reason == "no such session" {
				file := decodeState(r.state).Session + ".json"
				if err := os.Remove(filepath.Join(r.spec.Env[fakeacp.DirEnvVar], file)); err != nil {
					t.Fatal(err)
				}
			}
			next := newTestAgent(t, test.traits, connected, func(c *Config, s *agent.Spec) {
				c.RestoreTimeout = time.Millisecond
				s.Env, s.CWD, s.State = r.spec.Env, r.spec.CWD, r.state
				s.Env[fakeacp.EnvVar] = test.traits
			})
			next.transcript = strings.Repeat("x", maxTranscript) + "User: say one\n\nAssistant: one"
			if err := next.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := next.notices(); !strings.Contains(got, test.reason) || !strings.Contains(got, "transcript") {
				t.Errorf("notices: %s", got)
			}
			again := next.restart(test.traits) // before the next message
			again.transcript = next.transcript
			again.run("/init")
			again.run("say two")
			again.run("say three")
			got := again.prompts()
			if len(got) != 3 || got[0] != "/init" || got[2] != "say three" {
				t.Fatalf("%d prompts: %.200q", len(got), got)
			}
			if p := got[1]; !strings.HasPrefix(p, transcriptHead) ||
				!strings.HasSuffix(p, transcriptTail+"\n\nsay two") ||
				!strings.Contains(p, "Assistant: one") || len(p) > maxTranscript+1<<10 {
				t.Errorf("%d bytes: %.100q…", len(p), p)
			}
		})
	}
}
