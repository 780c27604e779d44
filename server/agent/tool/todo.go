package tool

import (
	"context"
	"fmt"
	"strconv"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

type todoArguments struct {
	Steps []struct {
		Title  string `json:"title" about:"short"`
		Status string `json:"status" enum:"pending,running,completed,cancelled"`
	} `json:"steps"`
}

// maxSteps bounds the steps of a plan.
const maxSteps = 100

// todo returns the tool with which the model shows the steps of its work.
func todo() llm.Tool {
	return llm.NewTool(llm.Tool{
		Name: "todo", Kind: protocol.ToolThink, Parallel: true,
		About: "Shows the user the steps of your work and how far it is. Send all steps each time, at most one of " +
			"them running. Use it for work of three steps or more.",
	}, checkTodo)
}

func checkTodo(_ context.Context, _ *llm.ToolCall, in todoArguments) (llm.Preview, error) {
	if len(in.Steps) == 0 || len(in.Steps) > maxSteps {
		return llm.Preview{}, fmt.Errorf("want 1 to %d steps", maxSteps)
	}
	tasks := make([]protocol.Task, len(in.Steps))
	done := 0
	for i, s := range in.Steps {
		if s.Title == "" {
			return llm.Preview{}, fmt.Errorf("step %d has no title", i+1)
		}
		if s.Status == protocol.StatusCompleted {
			done++
		}
		tasks[i] = protocol.Task{ID: strconv.Itoa(i + 1), Title: s.Title, Status: s.Status}
	}
	return llm.Preview{
		Title: fmt.Sprintf("%d of %d steps done", done, len(tasks)), Safe: true, Contained: true,
		Run: func(context.Context, func(string)) (llm.ToolResult, error) {
			return llm.ToolResult{Text: "Shown.", Tasks: tasks}, nil
		},
	}, nil
}
