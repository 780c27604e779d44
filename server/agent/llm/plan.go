package llm

import (
	"context"
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

// maxPlan bounds the steps of a plan.
const maxPlan = 100

type planArguments struct {
	Summary string `json:"summary" about:"one line"`
	Steps   []struct {
		Title       string `json:"title"`
		Description string `json:"description"`
	} `json:"steps"`
}

// planTool returns the tool that presents a plan to the user, under the policy plan. The approval of the plan
// ends that policy.
func (a *Agent) planTool() Tool {
	return NewTool(Tool{
		Name: "present_plan", Kind: protocol.ToolThink,
		About: "Presents your plan to the user, who approves it, edits it or denies it with a reason. " +
			"Only under the policy plan.",
	}, a.checkPlan)
}

func (a *Agent) checkPlan(_ context.Context, c *ToolCall, in planArguments) (Preview, error) {
	switch {
	case a.policy() != policy.Plan:
		return Preview{}, errors.New("the policy is not plan: carry the work out, without presenting a plan")
	case len(in.Steps) == 0 || len(in.Steps) > maxPlan:
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
	return Preview{
		Title:   strings.TrimSpace("Plan: " + in.Summary),
		Request: protocol.Approval{Kind: protocol.ApprovePlan, Tasks: tasks},
		Run: func(context.Context, func(string)) (ToolResult, error) {
			if err := a.endPlanning(); err != nil {
				return ToolResult{}, err
			}
			return approvedPlan(tasks, c.Tasks), nil
		},
	}, nil
}

// approvedPlan returns the result of a plan that the user has approved, or edited; nil: not edited.
func approvedPlan(plan, edited []protocol.Task) ToolResult {
	if edited == nil {
		return ToolResult{Text: "The user approved the plan. Carry it out.", Tasks: plan}
	}
	var b strings.Builder
	b.WriteString("The user edited the plan and approved it. Carry out these steps:\n")
	for i, s := range edited {
		fmt.Fprintf(&b, "%d. %s\n%s\n", i+1, s.Title, s.Description)
	}
	return ToolResult{Text: b.String(), Tasks: edited}
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
	if a.parent != nil {
		return tools
	}
	if a.options.Toolbox != nil && !a.options.Config.Tasks.Off {
		tools = append(tools, a.taskTool())
	}
	return append(tools, questionTool(), a.planTool()) // under every policy: providers cache the list of tools
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
