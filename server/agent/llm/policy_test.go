package llm

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// policyOf returns the setting of the policy.
func policyOf(a *Agent) protocol.Setting {
	all := a.settings()
	i := slices.IndexFunc(all, func(s protocol.Setting) bool { return s.ID == policySetting })
	return all[i]
}

func offers(s protocol.Setting, id policy.Policy) bool {
	return slices.ContainsFunc(s.Choices, func(c protocol.Choice) bool { return c.ID == string(id) })
}

func TestThePolicyIsASettingThatIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, "chat", "qwen", fakemodel.Say("ok"))
		if s := policyOf(r.agent); s.Value != "ask" || s.Default != "ask" || offers(s, policy.Full) ||
			len(s.Choices) != 5 {
			t.Errorf("%+v", s)
		}
		if err := r.agent.Configure(t.Context(), policySetting,
			"full"); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
			t.Errorf("full: %v", err)
		}
		if err := r.agent.Configure(t.Context(), policySetting, "auto-edit"); err != nil {
			t.Fatal(err)
		}
		r.open(r.state)
		if s := policyOf(r.agent); s.Value != "auto-edit" {
			t.Errorf("after a restart: %+v", s)
		}
	})
}

// Full is a choice, and users are warned of it, only if the configuration has it.
func TestFullIsConfiguredAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("rm"))
		}, fakemodel.Say("ok"))
		r := newRig(t, "chat", "qwen", script, echo("shell"))
		r.opts.Config.Policy = policy.Full
		r.open(nil)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if s := policyOf(r.agent); s.Value != "full" || !offers(s, policy.Full) || len(r.asked) != 0 {
			t.Errorf("%+v, asked %d", s, len(r.asked))
		}
		if !strings.Contains(r.lines(), "policy full: all calls") {
			t.Errorf("users are not warned: %s", r.lines())
		}
		if err := r.agent.Configure(t.Context(), policySetting, "full"); err != nil {
			t.Fatal(err)
		}
		r.opts.Config.Policy = ""
		r.open(r.state)
		if s := policyOf(r.agent); s.Value != "ask" {
			t.Errorf("full is no longer configured: %+v", s)
		}
		err := r.agent.Configure(t.Context(), policySetting, "full")
		if err == nil || !strings.Contains(err.Error(), "in the configuration of the server") {
			t.Errorf("full without the configuration: %v", err)
		}
	})
}

// planner presents a plan until it is approved.
func planner(_ context.Context, q fakemodel.Request, out *fakemodel.Reply) {
	step := func(title string) map[string]string { return map[string]string{"title": title, "description": "d"} }
	switch {
	case strings.Contains(string(q.Body), "no longer plan"):
		out.Text("done")
	case q.N == 0:
		out.Call("shell", x("rm"))
	case q.N == 1:
		out.Call("present_plan", map[string]any{"summary": "two", "steps": []any{}})
	default:
		out.Call("present_plan", map[string]any{"summary": "two", "steps": []any{step("one"), step("two")}})
	}
}

func TestUnderThePolicyPlanAPlanIsApproved(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		r := newRig(t, api, name, planner, echo("shell"))
		r.opts.Config.Policy = policy.Plan
		r.open(nil)
		r.decide = func(_ context.Context, a protocol.Approval) (agent.Verdict, error) {
			if len(r.asked) == 1 {
				return agent.Verdict{Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "start with two"}, nil
			}
			return agent.Verdict{
				Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
				Input: &protocol.ApprovalInput{Tasks: []protocol.Task{{
					ID: "2", Title: "second",
					Description: "first",
				}}},
			}, nil
		}
		end, err := r.send(t.Context(), "go")
		if err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatalf("%+v, %v\n%s", end, err, r.lines())
		}
		if got := r.results(); !slices.Equal(got, []string{"denied", "failed", "denied", "completed"}) {
			t.Errorf("results %q", got)
		}
		if a := r.asked[0]; a.Kind != protocol.ApprovePlan || len(a.Tasks) != 2 || a.Input != nil ||
			a.Tasks[0].Title != "one" {
			t.Errorf("asked %+v", a)
		}
		if s := policyOf(r.agent); s.Value != "ask" {
			t.Errorf("the policy stays %s", s.Value)
		}
		requests := r.fake.Requests()
		last := string(requests[len(requests)-1].Body)
		for _, text := range []string{
			"start with two", "edited the plan", "1. second",
			"until the user approves a plan",
		} {
			if !strings.Contains(last, text) {
				t.Errorf("the last request lacks %q", text)
			}
		}
		first := string(requests[0].Body)
		if !strings.Contains(first, "The policy is plan now") || !strings.Contains(last, "The policy is no longer plan") {
			t.Error("the notes do not follow the policy")
		}
		var shown []protocol.Task
		for _, e := range r.events {
			if d, ok := e.Data.(protocol.PlanTasksData); ok {
				shown = d.Tasks
			}
		}
		if len(shown) != 1 || shown[0].Title != "second" {
			t.Errorf("shown %+v", shown)
		}
	})
}

// A request for a patch has no arguments: its diffs show all of it. An explanation has them.
func TestAnExplanationOfAPatchHasItsArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &patchTool{*echo("edit")}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("edit", x("the argument"))
		}, fakemodel.Say("why"), fakemodel.Say("ok"))
		r := newRig(t, "chat", "qwen", script, tool)
		r.decide = func(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
			if a.Input != nil {
				t.Errorf("input %s", a.Input)
			}
			_, err := r.agent.Explain(ctx, a)
			return agent.Verdict{Outcome: protocol.Allowed, Decision: protocol.AllowOnce}, err
		}
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if body := string(r.fake.Requests()[1].Body); !strings.Contains(body,
			`edit with the arguments {\"x\":\"the argument\"}`) {
			t.Errorf("the side question: %s", body)
		}
	})
}

// A patchTool asks for a patch.
type patchTool struct{ fakeTool }

func (p *patchTool) tool() Tool {
	tool := p.fakeTool.tool()
	tool.Preview = func(ctx context.Context, c *ToolCall) (Preview, error) {
		preview, err := p.preview(ctx, c)
		preview.Request = protocol.Approval{Kind: protocol.ApprovePatch, Patch: "as sent"}
		return preview, err
	}
	return tool
}

// A patch that the user sends back as it was is not an edit.
func TestAnUnchangedPatchIsNotAnEdit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := &patchTool{*echo("edit")}
		script := fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("edit", x("a"))
		}, fakemodel.Say("ok"))
		for edited, want := range map[string]bool{"": false, "as sent": false, "mine": true} {
			r := newRig(t, "chat", "qwen", script, tool)
			r.decide = func(context.Context, protocol.Approval) (agent.Verdict, error) {
				return agent.Verdict{Outcome: protocol.Allowed, Input: &protocol.ApprovalInput{Patch: edited}}, nil
			}
			if _, err := r.send(t.Context(), "go"); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(string(r.fake.Requests()[1].Body), "edited the patch"); got != want {
				t.Errorf("%q: the model is informed: %t", edited, got)
			}
		}
	})
}

// A command that only reads runs confined where the policy allows reads, and as it is where a person or the policy
// allows everything.
func TestACommandThatReadsRunsConfined(t *testing.T) {
	for p, want := range map[policy.Policy]string{
		policy.Ask: "asked", policy.AutoRead: "confined", policy.AutoEdit: "asked", policy.Full: "free", policy.Deny: "denied",
		policy.Plan: "confined",
	} {
		tool, got := echo("shell"), "denied"
		tool.confined = true
		var r *rig
		tool.run = func(_ context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
			switch {
			case c.Confined:
				got = "confined"
			case len(r.asked) > 0:
				got = "asked"
			default:
				got = "free"
			}
			return ToolResult{Text: "ran"}, nil
		}
		r = newRig(t, "chat", "qwen", fakemodel.Turns(func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
			out.Call("shell", x("ls"))
		}, fakemodel.Say("done")), tool)
		r.opts.Config.Policy = p
		r.open(nil)
		if _, err := r.send(t.Context(), "go"); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}
