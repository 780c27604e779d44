package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"agentctl/protocol"
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

// taskName is the name of taskTool.
const taskName = "task"

// A taskTool gives a task to a sub-agent. Its calls are judged by the policy, each on its own.
type taskTool struct{ agent *Agent }

type taskArguments struct {
	Title    string `json:"title"`
	Prompt   string `json:"prompt"`
	ReadOnly bool   `json:"read_only"`
}

// Spec implements Tool.
func (t *taskTool) Spec() ToolSpec {
	return ToolSpec{
		Name: taskName, Kind: protocol.ToolThink, Parallel: true,
		About: fmt.Sprintf("Gives a task to another agent with the same tools and its own context, and returns "+
			"its last text. It does not see this conversation: the prompt must have all that it needs, and say what "+
			"to answer. Use it for searches and for work whose details you do not need. At most %d run at the same "+
			"time: they must not change the same files.", maxTasks),
		Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["title","prompt"],` +
			`"properties":{"title":{"type":"string","description":"a few words for the user"},` +
			`"prompt":{"type":"string"},` +
			`"read_only":{"type":"boolean","description":"it gets only the tools that read and search"}}}`),
	}
}

// Preview implements Tool. The task itself does nothing: its calls do.
func (t *taskTool) Preview(_ context.Context, c *ToolCall) (Preview, error) {
	var in taskArguments
	if err := c.Decode(t.Spec(), &in); err != nil {
		return Preview{}, err
	}
	if in.Title == "" || in.Prompt == "" {
		return Preview{}, errors.New("title and prompt must not be empty")
	}
	c.Plan = in
	return Preview{Title: in.Title, Safe: true, Contained: true}, nil
}

// Run implements Tool.
func (t *taskTool) Run(ctx context.Context, c *ToolCall, show func(string)) (ToolResult, error) {
	in, ok := c.Plan.(taskArguments)
	if !ok || c.out == nil {
		return ToolResult{}, errors.New("the task was not checked")
	}
	select {
	case t.agent.tasks.slots <- struct{}{}:
		defer func() { <-t.agent.tasks.slots }()
	case <-ctx.Done():
		return ToolResult{}, ctx.Err()
	}
	s, err := t.agent.newSubagent(c, in, show)
	if err != nil {
		return ToolResult{}, err
	}
	return s.run(ctx)
}

// taskTools returns the tools for tasks: none for a sub-agent.
func (a *Agent) taskTools() []Tool {
	if a.parent != nil || a.options.Toolbox == nil || a.options.Config.Tasks.Off {
		return nil
	}
	return []Tool{&taskTool{a}}
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
		spec := t.Spec()
		reads := spec.Kind == protocol.ToolRead || spec.Kind == protocol.ToolSearch
		if spec.Kind != protocol.ToolThink && (reads || !b.readOnly) {
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
		if m := &s.Conversation[i]; m.Role == "assistant" {
			return strings.TrimSpace(m.Text())
		}
	}
	return ""
}
