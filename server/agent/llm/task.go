package llm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/server/agent/llm/model"
)

// A TaskConfig is about the tasks that the model gives to sub-agents.
type TaskConfig struct {
	Off    bool   `json:"off"`    // the model has no sub-agents; default false
	Model  string `json:"model"`  // of sub-agents; default the session's model
	Budget Limits `json:"budget"` // of one task
}

// Limits of tasks.
const (
	maxTasks     = 4  // of a session at the same time
	taskRequests = 50 // of a task, unless configured
)

// taskInstructions are for sub-agents.
const taskInstructions = `You work on one task for another agent. It gets only your last message: put all that it needs
into it. You cannot ask it anything. If the task cannot be done, say why.`

type taskArguments struct {
	Title    string `json:"title" about:"a few words for the user"`
	Prompt   string `json:"prompt"`
	ReadOnly bool   `json:"read_only,omitempty" about:"it gets only the tools that read and search"`
}

// taskTool returns the tool that gives a task to a sub-agent. The task itself does nothing: its calls do, and
// the policy judges each of them.
func (a *Agent) taskTool() Tool {
	return NewTool(Tool{
		Name: "task", Kind: protocol.ToolThink, Parallel: true,
		About: fmt.Sprintf("Gives a task to another agent with the same tools and its own context, and returns "+
			"its last text. It does not see this conversation: the prompt must have all that it needs, and say what "+
			"to answer. Use it for searches and for work whose details you do not need. At most %d run at the same "+
			"time: they must not change the same files.", maxTasks),
	}, func(_ context.Context, c *ToolCall, in taskArguments) (Preview, error) {
		if in.Title == "" || in.Prompt == "" {
			return Preview{}, errors.New("title and prompt must not be empty")
		}
		run := func(ctx context.Context, show func(string)) (ToolResult, error) {
			return a.tasks.inSlot(ctx, func() (ToolResult, error) {
				s, err := a.newSubagent(c, in, show)
				if err != nil {
					return ToolResult{}, err
				}
				return s.run(ctx)
			})
		}
		return Preview{Title: in.Title, Safe: true, Contained: true, Run: run}, nil
	})
}

// inSlot runs a task when there is a slot for it.
func (r *taskRuns) inSlot(ctx context.Context, run func() (ToolResult, error)) (ToolResult, error) {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return ToolResult{}, ctx.Err()
	}
	return run()
}

// A taskToolbox has the tools of a sub-agent: the agent's tools without the ones that show the
// steps of the session's work. The agent owns them.
type taskToolbox struct {
	Toolbox

	readOnly bool
}

// Tools implements Toolbox.
func (b *taskToolbox) Tools() (tools []Tool) {
	for _, t := range b.Toolbox.Tools() {
		reads := t.Kind == protocol.ToolRead || t.Kind == protocol.ToolSearch
		if t.Kind != protocol.ToolThink && (reads || !b.readOnly) {
			tools = append(tools, t)
		}
	}
	return tools
}

// Close implements Toolbox. The tools stay open: the agent owns them.
func (b *taskToolbox) Close() error { return nil }

// finalText returns the text of the last message of the model.
func (s *state) finalText() string {
	for i := len(s.Conversation) - 1; i >= 0; i-- {
		if m := &s.Conversation[i]; m.Role == model.Assistant {
			return strings.TrimSpace(m.Text())
		}
	}
	return ""
}
