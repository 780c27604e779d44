package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A subagent runs one task in a separate conversation. The session sees its calls below the call of
// the task, and its texts as the output of that call. It is the Output of its own agent.
type subagent struct {
	agent.Output // of the turn

	// Static.
	parent *Agent
	agent  *Agent
	call   string // id of the call of the task
	title  string
	prompt string
	show   func(text string)

	// Of the goroutine of run.
	stop     context.CancelCauseFunc
	used     protocol.Usage // as counted for the parent
	requests int            // as counted for the parent
}

// newSubagent returns the sub-agent for a task.
func (a *Agent) newSubagent(c *ToolCall, in taskArguments, show func(string)) (*subagent, error) {
	a.mu.Lock()
	config, toolbox := a.options.Config, a.toolbox
	config.Model, config.Effort = a.modelName(), a.effort()
	a.mu.Unlock()
	if config.Tasks.Model != "" {
		config.Model = config.Tasks.Model
	}
	config.Budget = Budget{Turn: config.Tasks.Budget}
	if config.Budget.Turn.Requests == 0 {
		config.Budget.Turn.Requests = taskRequests
	}
	s := &subagent{Output: c.out, parent: a, call: c.ID, title: in.Title, prompt: in.Prompt, show: show}
	agent, err := New(Options{
		Name: a.options.Name, Config: config, Open: a.options.Open, Models: a.options.Models,
		Toolbox: func(agent.Spec, agent.Host) (Toolbox, error) { return &taskToolbox{toolbox, in.ReadOnly}, nil },
	}, agent.Spec{
		Session: a.spec.Session + "." + c.ID, CWD: a.spec.CWD, Env: a.spec.Env, MCPServers: a.spec.MCPServers,
	}, &subagentHost{a.host})
	if err != nil {
		return nil, err
	}
	agent.parent, s.agent = a, agent
	return s, nil
}

// run runs the task and returns its last text.
func (s *subagent) run(ctx context.Context) (r ToolResult, err error) {
	task, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.stop = stop
	s.parent.tasks.byCall.Store(s.call, s)
	defer s.parent.tasks.byCall.Delete(s.call)
	end, err := s.agent.Run(task, agent.Turn{ID: s.call, Message: protocol.Message{Text: s.prompt}}, s)
	s.agent.mu.Lock()
	r.Text = s.agent.state.finalText()
	s.agent.mu.Unlock()
	switch cause := context.Cause(task); {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case cause != nil:
		return r, fmt.Errorf("the task was stopped: %w", cause)
	case err != nil:
		return r, fmt.Errorf("the task failed: %w", err)
	case end.Reason == protocol.ReasonDenied:
		return r, &deniedError{end.Message}
	case end.Reason != protocol.ReasonCompleted:
		return r, fmt.Errorf("the task ended early (%s): %s", end.Reason, end.Message)
	case r.Text == "":
		return r, errors.New("the task ended without a text")
	}
	return r, nil
}

// Emit implements agent.Output. Calls appear below the task's call; the state of the session's own
// conversation does not change.
func (s *subagent) Emit(e agent.Event) error {
	e.Save, e.Parent = nil, s.call
	switch d := e.Data.(type) {
	case protocol.PartDeltaData:
		if e.Type == protocol.TextDelta {
			s.show(d.Text)
		}
		return nil
	case protocol.PartEndData:
		if e.Type == protocol.TextEnd {
			s.show("\n")
		}
		return nil
	case protocol.Usage:
		return s.count(d)
	case protocol.ToolStartedData:
		return s.record(e, func(c *callState) { c.startBelow(d.Tool) })
	case protocol.ToolEndedData:
		return s.record(e, func(c *callState) { delete(c.Below, d.Tool) })
	case protocol.ToolInputData, protocol.ToolOutputData, protocol.NoticeData, protocol.RetryData:
		return s.Output.Emit(e)
	}
	return nil
}

// record emits an event in one commit with the open calls of the task.
func (s *subagent) record(e agent.Event, change func(*callState)) error {
	return s.parent.record(s.Output, e, func(st *state) { st.changeCall(s.call, change) })
}

// Ask implements agent.Output. Users see which task asks.
func (s *subagent) Ask(ctx context.Context, a protocol.Approval) (agent.Verdict, error) {
	why := "for the task " + s.title
	if a.Why != "" {
		why += ": " + a.Why
	}
	a.Why = why
	asking := func(on bool) func(*state) {
		return func(st *state) {
			st.changeCall(s.call, func(c *callState) {
				if _, open := c.Below[a.Request]; open {
					c.Below[a.Request] = on
				}
			})
		}
	}
	if err := s.parent.update(s.Output, asking(true)); err != nil { // a restart withdraws it
		return agent.Verdict{}, err
	}
	v, err := s.Output.Ask(ctx, a)
	return v, errors.Join(err, s.parent.update(s.Output, asking(false)))
}

// Save implements agent.Output. A task does not outlive the server.
func (s *subagent) Save([]byte) error { return nil }

// count adds the task's usage since the last call to the turn and the session, and stops the task
// if their budget is used up.
func (s *subagent) count(total protocol.Usage) error {
	s.agent.mu.Lock()
	requests := s.agent.state.Requests
	s.agent.mu.Unlock()
	used, n := total, requests-s.requests
	subtractUsage(&used, &s.used)
	s.used, s.requests = total, requests
	var all protocol.Usage
	err := s.parent.update(s.Output, func(st *state) {
		used.Model, used.Currency = cmp.Or(st.Usage.Model, used.Model), cmp.Or(st.Usage.Currency, used.Currency)
		st.count(n, &used)
		all = st.Usage
	})
	if err != nil {
		return err
	}
	if end, over := s.parent.overBudget(); over {
		s.stop(errors.New(end.Message))
	}
	return s.Output.Emit(agent.Event{Type: protocol.UsageUpdated, Data: all})
}

func subtractUsage(sum, u *protocol.Usage) {
	sum.Input, sum.Output = sum.Input-u.Input, sum.Output-u.Output
	sum.Cached, sum.Reasoning = sum.Cached-u.Cached, sum.Reasoning-u.Reasoning
	sum.Cost -= u.Cost
}

// A subagentHost is the host of a sub-agent. It writes to the session's log, but drops settings,
// notices about them, and stored state.
type subagentHost struct{ agent.Host }

// Emit implements agent.Host.
func (h *subagentHost) Emit(agent.Event) error { return nil }

// Save implements agent.Host.
func (h *subagentHost) Save([]byte) error { return nil }

// taskRuns are the sub-agents of an agent that run.
type taskRuns struct {
	slots  chan struct{} // holds one of each
	byCall sync.Map      // *subagent by the id of the call of its task
}

func newTaskRuns() *taskRuns { return &taskRuns{slots: make(chan struct{}, maxTasks)} }

// askedBy returns the sub-agent that sent a request; nil: the agent itself. The ids of a
// sub-agent's calls begin with the id of its task's call.
func (r *taskRuns) askedBy(request *protocol.Approval) (found *Agent) {
	r.byCall.Range(func(call, s any) bool {
		if strings.HasPrefix(request.Tool, call.(string)+".") {
			found = s.(*subagent).agent
		}
		return found == nil
	})
	return found
}

// startBelow records an open call of a task.
func (c *callState) startBelow(tool string) {
	if c.Below == nil {
		c.Below = map[string]bool{}
	}
	if _, ok := c.Below[tool]; !ok {
		c.Below[tool] = false
	}
}

// changeCall changes a call of the turn.
func (s *state) changeCall(tool string, change func(*callState)) {
	if s.Turn == nil {
		return
	}
	for i := range s.Turn.Calls {
		if c := &s.Turn.Calls[i]; c.Tool == tool {
			change(c)
		}
	}
}

// endBelow ends the calls of a task that a restart stopped, and withdraws their requests.
func (t *turnRun) endBelow(ctx context.Context, c *callState) error {
	for tool, asking := range c.Below {
		status := protocol.ToolUnknown
		if asking {
			status = protocol.ToolCancelled
			t.withdrawRequest(ctx, tool)
		}
		err := t.out.Emit(agent.Event{Type: protocol.ToolEnded, Parent: c.Tool, Data: protocol.ToolEndedData{
			Tool: tool, Status: status, Error: "the server stopped while the task ran",
		}})
		if err != nil {
			return err
		}
	}
	return nil
}
