package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// planInstructions are for the policy plan.
const planInstructions = `The user wants a plan first. Only reading is allowed, also with
commands such as git log, rg and ls. Find out what is needed, then call
present_plan with the steps. Do not change anything before the user approves the plan.`

// planName is the name of planTool.
const planName = "present_plan"

// maxPlan bounds the steps of a plan.
const maxPlan = 100

// A planTool presents a plan to the user, under the policy plan. The approval of the plan ends that
// policy.
type planTool struct{ agent *Agent }

// Spec implements Tool.
func (t *planTool) Spec() ToolSpec {
	return ToolSpec{
		Name: planName, Kind: protocol.ToolThink,
		About: "Presents your plan to the user, who approves it, edits it or denies it with a reason. " +
			"Only under the policy plan.",
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["summary","steps"],` +
			`"properties":{"summary":{"type":"string","description":"one line"},"steps":{"type":"array","items":` +
			`{"type":"object","additionalProperties":false,"required":["title","description"],"properties":` +
			`{"title":{"type":"string"},"description":{"type":"string"}}}}}}`),
	}
}

// Preview implements Tool.
func (t *planTool) Preview(_ context.Context, c *ToolCall) (Preview, error) {
	if t.agent.policy() != policy.Plan {
		return Preview{}, errors.New("the policy is not plan: carry the work out, without presenting a plan")
	}
	var in struct {
		Summary string
		Steps   []struct{ Title, Description string }
	}
	if err := c.Decode(t.Spec(), &in); err != nil {
		return Preview{}, err
	}
	if len(in.Steps) == 0 || len(in.Steps) > maxPlan {
		return Preview{}, fmt.Errorf("want 1 to %d steps", maxPlan)
	}
	tasks := make([]protocol.Task, len(in.Steps))
	for i, s := range in.Steps {
		if s.Title == "" {
			return Preview{}, fmt.Errorf("step %d has no title", i+1)
		}
		tasks[i] = protocol.Task{
			ID: strconv.Itoa(i + 1), Title: s.Title, Description: s.Description, Status: protocol.StatusPending,
		}
	}
	c.Plan = tasks
	title := strings.TrimSpace("Plan: " + in.Summary)
	return Preview{Title: title, Request: protocol.Approval{Kind: protocol.ApprovePlan, Tasks: tasks}}, nil
}

// Run implements Tool. The user has approved the plan.
func (t *planTool) Run(_ context.Context, c *ToolCall, _ func(string)) (ToolResult, error) {
	tasks, ok := c.Plan.([]protocol.Task)
	if !ok {
		return ToolResult{}, errors.New("the plan was not checked")
	}
	text := "The user approved the plan. Carry it out."
	if c.Tasks != nil {
		tasks = c.Tasks
		var b strings.Builder
		b.WriteString("The user edited the plan and approved it. Carry out these steps:\n")
		for i, s := range tasks {
			fmt.Fprintf(&b, "%d. %s\n%s\n", i+1, s.Title, s.Description)
		}
		text = b.String()
	}
	if err := t.agent.endPlanning(); err != nil {
		return ToolResult{}, err
	}
	return ToolResult{Text: text, Tasks: tasks}, nil
}

// endPlanning replaces the policy plan with the configured policy, or with ask.
func (a *Agent) endPlanning() error {
	if a.policy() != policy.Plan {
		return nil
	}
	next := a.options.Config.Policy
	if next == "" || next == policy.Plan {
		next = policy.Ask
	}
	if err := a.update(a.host, func(s *state) { s.Policy = next }); err != nil {
		return err
	}
	return a.emitOptions()
}

// offered returns the tools for the next request.
func (a *Agent) offered(toolbox Toolbox) (tools []Tool) {
	if toolbox != nil {
		tools = append(tools, toolbox.Tools()...)
	}
	tools = append(tools, a.taskTools()...)
	if a.parent == nil {
		tools = append(tools, questionTool{})
	}
	if a.parent == nil { // under every policy: providers cache the list of tools
		tools = append(tools, &planTool{a})
	}
	return tools
}

// emitSteps shows the steps of the model's work as the plan of the session.
func (t *turnRun) emitSteps(steps []protocol.Task) error {
	if steps == nil {
		return nil
	}
	typ := protocol.PlanCompleted
	if slices.ContainsFunc(steps, func(s protocol.Task) bool { return s.Status != protocol.StatusCompleted }) {
		typ = protocol.PlanUpdated
	}
	e := agent.Event{Type: typ, Data: protocol.PlanTasksData{Tasks: steps}}
	return t.agent.record(t.out, e, func(s *state) { s.Steps = steps })
}
