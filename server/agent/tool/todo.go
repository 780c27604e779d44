package tool

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

// todo is the tool with which the model shows the steps of its work.
type todo struct{}

type todoArguments struct {
	Steps []struct {
		Title  string `json:"title"`
		Status string `json:"status"`
	} `json:"steps"`
}

// maxSteps bounds the steps of a plan.
const maxSteps = 100

// Spec implements llm.Tool.
func (todo) Spec() llm.ToolSpec {
	status := map[string]any{
		"type": "string",
		"enum": []string{
			protocol.StatusPending, protocol.StatusRunning, protocol.StatusCompleted, protocol.StatusCancelled,
		},
	}
	step := map[string]any{
		"type": "object", "required": []string{"title", "status"}, "additionalProperties": false,
		"properties": fields{"title": textField("short"), "status": status},
	}
	return llm.ToolSpec{
		Name: "todo", Kind: protocol.ToolThink, Parallel: true,
		About: "Shows the user the steps of your work and how far it is. Send all steps each time, at most one of " +
			"them running. Use it for work of three steps or more.",
		Schema: schema(fields{"steps": {"type": "array", "items": step}}),
	}
}

// Preview implements llm.Tool.
func (t todo) Preview(_ context.Context, c *llm.ToolCall) (llm.Preview, error) {
	in, err := arguments[todoArguments](c, t)
	switch {
	case err != nil:
		return llm.Preview{}, err
	case len(in.Steps) == 0 || len(in.Steps) > maxSteps:
		return llm.Preview{}, fmt.Errorf("want 1 to %d steps", maxSteps)
	}
	tasks := make([]protocol.Task, len(in.Steps))
	done := 0
	for i, s := range in.Steps {
		switch s.Status {
		case protocol.StatusCompleted:
			done++
		case protocol.StatusPending, protocol.StatusRunning, protocol.StatusCancelled:
		default:
			return llm.Preview{}, fmt.Errorf("step %d has the unknown status %.50q", i+1, s.Status)
		}
		if s.Title == "" {
			return llm.Preview{}, fmt.Errorf("step %d has no title", i+1)
		}
		tasks[i] = protocol.Task{ID: strconv.Itoa(i + 1), Title: s.Title, Status: s.Status}
	}
	c.Plan = tasks
	return llm.Preview{Title: fmt.Sprintf("%d of %d steps done", done, len(tasks)), Safe: true, Contained: true}, nil
}

// Run implements llm.Tool.
func (todo) Run(_ context.Context, c *llm.ToolCall, _ func(string)) (llm.ToolResult, error) {
	tasks, ok := c.Plan.([]protocol.Task)
	if !ok {
		return llm.ToolResult{}, errors.New("the steps were not checked")
	}
	return llm.ToolResult{Text: "Shown.", Tasks: tasks}, nil
}
