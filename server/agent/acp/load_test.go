package acp

import (
	"os"
	"strings"
	"testing"

	"agentctl/internal/dev/fakeacp"
	"agentctl/protocol"
	"agentctl/server/agent"
)

// loader returns an agent of a new session that continues an ACP session of r.
func (r *testAgent) loader(traits, id string) *testAgent {
	r.t.Helper()
	return newTestAgent(r.t, traits, func(c *Config, s *agent.Spec) {
		if r.config.Dial != nil {
			connected(c, s)
		}
		s.Env[fakeacp.DirEnvVar] = r.spec.Env[fakeacp.DirEnvVar]
		s.CWD, s.Load = r.spec.CWD, id
	})
}

func TestAStoredSessionOfTheAgentIsContinued(t *testing.T) {
	t.Parallel()
	const conversation = "User: say one\n\nAssistant: replayed answer\n\nUser: say two\n\nAssistant: replayed answer"
	for traits, want := range map[string]string{
		"load":        conversation,
		"load,late":   conversation,
		"load,resume": conversation,
		"load,fork":   conversation,
		"resume":      "did not repeat the conversation.",
	} {
		t.Run(traits, func(t *testing.T) {
			t.Parallel()
			first := newTestAgent(t, "plain", connected)
			first.run("say one")
			first.run("say two")
			id := decodeState(first.state).Session

			r := first.loader(traits, id)
			if err := r.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.earlier; !strings.HasPrefix(got, "Continue session "+id+"\n") || !strings.HasSuffix(got, want) {
				t.Errorf("conversation %q", got)
			}
			r.run("sessions")
			r.wantText("prompts: 3")
			if s := decodeState(r.state); s.Session != id || !s.Prompted {
				t.Errorf("state %+v", s)
			}
			next := newTestAgent(t, traits, connected, func(_ *Config, s *agent.Spec) { *s = r.spec; s.State = r.state })
			next.run("sessions")
			next.wantText("prompts: 4")
			if got := next.notices() + next.earlier; got != "" {
				t.Errorf("recorded after a restart: %s", got)
			}
		})
	}
}

func TestAStoredSessionThatCannotBeContinuedFailsTheStart(t *testing.T) {
	t.Parallel()
	first := newTestAgent(t, "load")
	first.run("say one")
	for _, test := range []struct {
		traits, id string
		code       protocol.Code
		text       string
	}{
		{"plain", decodeState(first.state).Session, protocol.CodeUnsupported, "supports neither session/load"},
		{"fork", decodeState(first.state).Session, protocol.CodeUnsupported, "supports neither session/load"},
		{"load", "unknown", protocol.CodeAgentFailed, "Fake cannot continue session unknown: no such session"},
		{"resume", "unknown", protocol.CodeAgentFailed, "Fake cannot continue session unknown: no such session"},
	} {
		r := first.loader(test.traits, test.id)
		for range 2 { // the second start does not begin another conversation either
			err := r.Start(t.Context())
			if protocol.CodeOf(err) != test.code || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%s %s: %v", test.traits, test.id, err)
			}
		}
		if r.Process().Running || len(r.state) > 0 {
			t.Errorf("%s: running %v, state %s", test.traits, r.Process().Running, r.state)
		}
	}
}

func TestAReplayKeepsTheEndOfTheConversation(t *testing.T) {
	chunk := func(kind, id, text string) *update {
		content, _ := protocol.Encode(block{Type: "text", Text: text})
		return &update{Kind: kind, MessageID: id, toolCall: toolCall{Content: content}}
	}
	var r replay
	if got := r.String(); got != "" {
		t.Errorf("%q of nothing", got)
	}
	r.add(chunk("user_message_chunk", "1", "fix "))
	r.add(chunk("user_message_chunk", "1", "it"))
	r.add(chunk("user_message_chunk", "2", "now"))
	r.add(chunk("agent_thought_chunk", "3", "secret thought"))
	r.add(&update{Kind: "tool_call", toolCall: toolCall{Title: "Read main.go"}})
	r.add(&update{Kind: "tool_call_update", toolCall: toolCall{Status: "completed"}})
	r.add(chunk("agent_message_chunk", "3", "do"))
	r.add(chunk("agent_message_chunk", "3", "ne"))
	want := "User: fix it\n\nUser: now\n\n[tool call: Read main.go]\n\nAssistant: done"
	if got := r.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for range 1000 {
		r.add(chunk("agent_message_chunk", "4", strings.Repeat("ä", 100)))
	}
	r.add(chunk("agent_message_chunk", "5", "the end"))
	got := r.String()
	if !strings.HasPrefix(got, "[…] ") || !strings.HasSuffix(got, "ä\n\nAssistant: the end") ||
		len(got) > maxTextEnd+10 || len(got) < maxTextEnd-10 || len(r.text.text) > 3*maxTextEnd {
		t.Errorf("%d bytes of %d: %.20q", len(got), len(r.text.text), got)
	}
}

func TestStoredSessionsListsEveryPageAndLeavesNoSession(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	first := newTestAgent(t, "load", connected)
	var ids []string
	for range 5 {
		next := first.loader("plain", "")
		next.run("say hi")
		ids = append(ids, decodeState(next.state).Session)
	}
	config := Config{Name: "Fake", Command: []string{self}}
	spec := agent.Spec{CWD: first.spec.CWD, Env: map[string]string{
		fakeacp.EnvVar: "list,auth", fakeacp.DirEnvVar: first.spec.Env[fakeacp.DirEnvVar],
		"GEMINI_API_KEY": "k", "GORACE": "atexit_sleep_ms=0",
	}}
	for dir, want := range map[string]int{"": 5, first.spec.CWD: 5, t.TempDir(): 0} {
		list, err := StoredSessions(t.Context(), config, spec, dir)
		if err != nil || len(list) != want {
			t.Fatalf("%q: %+v, %v", dir, list, err)
		}
		seen := map[string]bool{}
		for _, s := range list {
			seen[s.ID] = true
			if s.CWD != first.spec.CWD || s.Title != "say hi" || s.Updated == "" {
				t.Errorf("%+v", s)
			}
		}
		for _, id := range ids[:want] {
			if !seen[id] {
				t.Errorf("%s is not in %+v", id, list)
			}
		}
	}
	for traits, want := range map[string]protocol.Code{
		"plain": protocol.CodeUnsupported, "list,auth": protocol.CodeAgentAuth, "v2,list": protocol.CodeAgentFailed,
	} {
		spec.Env[fakeacp.EnvVar], spec.Env["GEMINI_API_KEY"] = traits, ""
		if _, err := StoredSessions(t.Context(), config, spec, ""); protocol.CodeOf(err) != want {
			t.Errorf("%s: %v", traits, err)
		}
	}
}
