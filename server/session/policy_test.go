package session

import (
	"encoding/json"
	"slices"
	"testing"

	"agentctl/internal/dev/requestcases"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// policyHub creates a session in a directory with a policy and starts a turn.
func policyHub(t *testing.T, r *testHub, name string) (id, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := requestcases.Prepare(dir); err != nil {
		t.Fatal(err)
	}
	id = must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
		Agent: "fake", CWD: dir, Settings: map[string]string{"policy": name},
	}))).Session
	r.send(id, "go")
	return id, dir
}

// resolved returns the resolution of a request; nil: it is pending.
func (r *testHub) resolved(id, request string) *protocol.ApprovalResolvedData {
	for _, e := range r.events(id, false) {
		var d protocol.ApprovalResolvedData
		if e.Type == protocol.ApprovalResolved && e.Decode(&d) == nil && d.Request == request {
			return &d
		}
	}
	return nil
}

func TestAPolicyIsASettingOfEverySession(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id, _ := policyHub(t, r, "auto-edit")
		if p := r.state(id).Policy(); p != "auto-edit" {
			t.Errorf("after the creation: %q", p)
		}
		run := r.agents.run()
		own := protocol.Options{Name: "Fake", Settings: []protocol.Setting{
			{ID: "mode", Value: "code"}, {ID: "policy", Value: "of the agent"},
		}}
		if err := run.agent.host.Emit(agent.Event{Type: protocol.AgentOptions, Data: own}); err != nil {
			t.Fatal(err)
		}
		r.waitIdle()
		o := r.state(id).Options
		if len(o.Settings) != 3 || o.Settings[2].ID != protocol.ContinueSetting || o.Settings[1].ID != "policy" || o.Settings[1].Value != "auto-edit" ||
			len(o.Settings[1].Choices) != 5 || o.Settings[0].Value != "code" || o.Name != "Fake" {
			t.Errorf("settings %+v", o)
		}
		set := func(value string) *testCall {
			data := protocol.ConfigureData{Setting: "policy", Value: value}
			return r.do(bert, newCommand(protocol.DoConfigure, id, data))
		}
		refused(r, set("yolo"), protocol.CodeInvalidMessage)
		refused(r, set("full"), protocol.CodeInvalidMessage)
		refused(r, r.do(anna, newCommand(protocol.DoCreate, "", protocol.CreateData{
			Settings: map[string]string{"policy": "full"},
		})), protocol.CodeInvalidMessage)

		run.ask(protocol.Approval{Request: "pending", Kind: protocol.ApproveCommand, Command: "rm -rf /"})
		r.waitIdle()
		if r.state(id).PendingApproval("pending") == nil {
			t.Fatal("not asked")
		}
		must[protocol.Empty](r, set("deny"))
		if v, ok := run.verdict("pending"); !ok || v.Outcome != protocol.Denied || v.Reason == "" {
			t.Errorf("the new policy decides the pending request: %+v, %t", v, ok)
		}
		events := r.events(id, false)
		i := slices.IndexFunc(events, func(e protocol.Event) bool {
			return e.Type == protocol.AgentOptions && e.By != nil && e.By.Name == "bert"
		})
		if i < 0 {
			t.Error("the log does not tell who changed the policy")
		}
		run.finish(agent.End{}, nil)
		r.restart()
		if p := r.state(id).Policy(); p != "deny" {
			t.Errorf("after a restart: %q", p)
		}
		r.send(id, "again")
		run = r.agents.run()
		run.ask(protocol.Approval{Request: "later", Kind: protocol.ApproveCommand, Command: "ls"})
		r.waitIdle()
		if d := r.resolved(id, "later"); d == nil || d.ByPolicy != "deny" {
			t.Errorf("after a restart: %+v", d)
		}
	})
}

// configuredAgents are fake agents with a policy in the configuration.
type configuredAgents struct {
	*fakeAgents
	policy policy.Policy
}

func (c configuredAgents) Policy(string) policy.Policy { return c.policy }

func TestFullIsForConfiguredAgentsOfUsers(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.hub.cfg.Agents = configuredAgents{r.agents, policy.Full}
		create := func(who Caller) string {
			id := must[protocol.CreateResult](
				r, r.do(who, newCommand(protocol.DoCreate, "", protocol.CreateData{Agent: "fake"})),
			).Session
			r.send(id, "go")
			r.agents.run().ask(protocol.Approval{Request: "q", Kind: protocol.ApproveQuestion, Title: "which?"})
			r.agents.run().ask(protocol.Approval{Request: "c", Kind: protocol.ApproveCommand, Command: "rm"})
			r.waitIdle()
			return id
		}
		id := create(anna)
		if d := r.resolved(id, "c"); d == nil || d.ByPolicy != "full" || r.state(id).Policy() != "full" {
			t.Errorf("%+v, shown %q", d, r.state(id).Policy())
		}
		if d := r.resolved(id, "q"); d != nil {
			t.Errorf("a question is answered: %+v", d)
		}
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
		child := create(Caller{By: protocol.AgentActor(id, ""), Conn: "c3", Agent: id})
		if d := r.resolved(child, "c"); d != nil {
			t.Errorf("a session that an agent created: %+v", d)
		}
	})
}

func TestPlanningEndsWithWhatAUserAllows(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		for _, kind := range []string{protocol.ApprovePlan, protocol.ApproveTool} {
			id, _ := policyHub(t, r, "plan")
			run := r.agents.run()
			run.ask(protocol.Approval{Request: "early", Kind: protocol.ApproveCommand, Command: "make"})
			run.ask(protocol.Approval{Request: "plan", Kind: kind, Title: "ready to code?"})
			r.waitIdle()
			if d := r.resolved(id, "early"); d == nil || d.Outcome != protocol.Denied {
				t.Errorf("%s: before the plan: %+v", kind, d)
			}
			must[protocol.ApproveResult](r, r.do(anna, approve(id, protocol.ApproveData{
				Request: "plan", Decision: protocol.AllowOnce,
			})))
			if p := r.state(id).Policy(); p != "ask" {
				t.Errorf("%s: the policy is %s", kind, p)
			}
			run.ask(protocol.Approval{Request: "late", Kind: protocol.ApproveCommand, Command: "make"})
			r.waitIdle()
			if d := r.resolved(id, "late"); d != nil {
				t.Errorf("%s: after the plan: %+v", kind, d)
			}
			run.finish(agent.End{}, nil)
			r.waitIdle()
		}
	})
}

// An agent with its own policy judges alone.
func TestAnAgentWithAPolicyIsNotJudgedAgain(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{HasPolicy: true}
		r.hub.cfg.Agents = configuredAgents{r.agents, policy.Deny}
		id := startAsking(r, protocol.Approval{Request: "a", Kind: protocol.ApproveCommand, Command: "ls"})
		if r.state(id).PendingApproval("a") == nil {
			t.Error("not asked")
		}
		own := protocol.Options{Settings: []protocol.Setting{{ID: "policy", Value: "its own"}}}
		if err := r.agents.run().agent.host.Emit(agent.Event{Type: protocol.AgentOptions, Data: own}); err != nil {
			t.Fatal(err)
		}
		r.waitIdle()
		if p := r.state(id).Policy(); p != "its own" {
			t.Errorf("shown %q", p)
		}
	})
}

// A request that a policy decides names the policy when it appears, so that no client shows it.
func TestARequestTellsThePolicyThatDecidesIt(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id, _ := policyHub(t, r, "deny")
		forged := protocol.ApprovalContext{Policy: "full"}
		r.agents.run().ask(protocol.Approval{
			Request: "a", Kind: protocol.ApproveCommand, Command: "ls", ApprovalContext: forged,
		})
		r.waitIdle()
		for _, e := range r.events(id, false) {
			var a protocol.Approval
			if e.Type == protocol.ApprovalRequested && (json.Unmarshal(e.Data, &a) != nil || a.Policy != "deny") {
				t.Errorf("%s", e.Data)
			}
		}
	})
}

// The policy allows the tools that the agent declares as reading.
func TestAPolicyAllowsTheReadingToolsOfTheAgent(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.capabilities = agent.Capabilities{ReadTools: []string{"look"}}
		id, _ := policyHub(t, r, "auto-read")
		for _, name := range []string{"look", "Read"} {
			r.agents.run().ask(protocol.Approval{
				Request: name, Kind: protocol.ApproveTool, Name: name, Input: json.RawMessage(`{"path":"a.go"}`),
			})
		}
		r.waitIdle()
		if r.resolved(id, "look") == nil || r.resolved(id, "Read") != nil {
			t.Errorf("pending %+v", r.state(id).Approvals)
		}
	})
}
