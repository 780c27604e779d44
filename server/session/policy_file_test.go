package session

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAPolicyFileDecidesInPlaceOfAUser(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		file := &protocol.PolicyFile{
			Name: "ci.json", Timeout: "5m", Deny: []protocol.PolicyRule{{Program: "rm"}},
			Allow: []protocol.PolicyRule{{Program: "go", Subcommand: "test"}},
		}
		dir := t.TempDir()
		create := func(f *protocol.PolicyFile) *testCall {
			data := protocol.CreateData{Agent: "fake", CWD: dir, Policy: f}
			return r.do(anna, newCommand(protocol.DoCreate, "", data))
		}
		refused(r, create(&protocol.PolicyFile{Allow: []protocol.PolicyRule{{}}}), protocol.CodeInvalidMessage)
		id := must[protocol.CreateResult](r, create(file)).Session
		if p := r.state(id).Policy(); p != "file:ci.json" {
			t.Errorf("shown %q", p)
		}
		r.restart()
		r.send(id, "go")
		run := r.agents.run()
		ask := func(request, command, cwd string) *protocol.ApprovalResolvedData {
			run.ask(protocol.Approval{Request: request, Kind: protocol.ApproveCommand, Command: command, CWD: cwd})
			r.waitIdle()
			return r.resolved(id, request)
		}
		if d := ask("a", "go test ./...", ""); d == nil || d.Outcome != protocol.Allowed ||
			d.ByPolicy != "file:ci.json" || d.Reason != "allow[0] of the policy file ci.json" {
			t.Errorf("allowed: %+v", d)
		}
		if d := ask("b", "rm -rf /", ""); d == nil || d.Outcome != protocol.Denied ||
			d.Reason != "deny[0] of the policy file ci.json" {
			t.Errorf("denied: %+v", d)
		}
		if d := ask("c", "go test ./...", "/etc"); d != nil {
			t.Errorf("in another directory: %+v", d)
		}
		if d := ask("d", "make", ""); d != nil {
			t.Errorf("asked: %+v", d)
		}
		time.Sleep(5 * time.Minute)
		r.waitIdle()
		if d := r.resolved(id, "d"); d == nil || d.Outcome != protocol.Expired {
			t.Errorf("after the timeout: %+v", d)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoConfigure, id, protocol.ConfigureData{
			Setting: "policy", Value: "ask",
		})))
		if d := ask("e", "go test ./...", ""); d != nil || r.state(id).Policy() != "ask" {
			t.Errorf("after another policy was set: %+v, %s", d, r.state(id).Policy())
		}
	})
}

// A stored policy file whose rule matched more in an earlier version asks, and tells it once.
func TestAPolicyFileThatMatchesLessAsksAndTellsIt(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		file := &protocol.PolicyFile{Name: "ci.json", Allow: []protocol.PolicyRule{{Program: "git"}}}
		id := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
			Agent: "fake", CWD: t.TempDir(), Policy: file,
		}))).Session
		r.restart()
		r.send(id, "go")
		run := r.agents.run()
		for request, command := range map[string]string{"a": "git push", "b": "git -c core.pager=ls log"} {
			run.ask(protocol.Approval{Request: request, Kind: protocol.ApproveCommand, Command: command})
			r.waitIdle()
			if d := r.resolved(id, request); d != nil {
				t.Errorf("%s: %+v, want a request", command, d)
			}
		}
		var notices []string
		for _, e := range r.events(id, false) {
			if e.Type == protocol.Notice {
				notices = append(notices, string(e.Data))
			}
		}
		if len(notices) != 1 || !strings.Contains(notices[0], "allow[0] of the policy file ci.json covers git only") {
			t.Errorf("notices %q", notices)
		}
	})
}

// The policy of an agent asks while a policy file decides, so that one of them judges.
func TestAnAgentWithAPolicyAsksUnderAPolicyFile(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{HasPolicy: true}
		var mu sync.Mutex
		var configured []string
		r.agents.capable = func(_ context.Context, what string) error {
			mu.Lock()
			defer mu.Unlock()
			configured = append(configured, what)
			return nil
		}
		id := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
			Agent: "fake", CWD: t.TempDir(), Policy: &protocol.PolicyFile{
				Name: "ci.json", Timeout: "0s", Allow: []protocol.PolicyRule{{Program: "make"}},
			},
		}))).Session
		r.send(id, "go")
		run := r.agents.run()
		mu.Lock()
		if !slices.Equal(configured, []string{"policy=ask"}) {
			t.Errorf("the agent got %q", configured)
		}
		mu.Unlock()
		run.ask(protocol.Approval{Request: "a", Kind: protocol.ApproveCommand, Command: "make"})
		run.ask(protocol.Approval{Request: "b", Kind: protocol.ApproveCommand, Command: "ls"})
		r.waitIdle()
		if d := r.resolved(id, "a"); d == nil || d.Outcome != protocol.Allowed {
			t.Errorf("allowed: %+v", d)
		}
		if d := r.resolved(id, "b"); d == nil || d.Outcome != protocol.Denied {
			t.Errorf("without time to decide: %+v", d)
		}
		set := func(value string) *testCall {
			data := protocol.ConfigureData{Setting: "policy", Value: value}
			return r.do(anna, newCommand(protocol.DoConfigure, id, data))
		}
		refused(r, set("full"), protocol.CodeInvalidMessage)
		must[protocol.Empty](r, set("file:ci.json"))
		run.ask(protocol.Approval{Request: "c", Kind: protocol.ApproveCommand, Command: "ls"})
		r.waitIdle()
		if d := r.resolved(id, "c"); d == nil {
			t.Error("the file was dropped")
		}
		must[protocol.Empty](r, set("auto-edit"))
		run.ask(protocol.Approval{Request: "d", Kind: protocol.ApproveCommand, Command: "make"})
		r.waitIdle()
		if d := r.resolved(id, "d"); d != nil {
			t.Errorf("the file decides after another policy was set: %+v", d)
		}
	})
}

// No agent chooses the permissions of another session's agent.
func TestAnAgentChoosesNoPolicy(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := must[protocol.CreateResult](
			r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: "fake"})),
		).Session
		agent := Caller{By: protocol.AgentActor(id, ""), Conn: "c3", Agent: id}
		for _, d := range []protocol.CreateData{
			{Settings: map[string]string{"policy": "auto-edit"}},
			{Policy: &protocol.PolicyFile{Allow: []protocol.PolicyRule{{Tool: "shell"}}}},
		} {
			refused(r, r.do(agent, newCommand(protocol.DoCreate, "", d)), protocol.CodeForbidden)
		}
	})
}
