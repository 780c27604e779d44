package server

import (
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

func planStarted(d *protocol.PlanStartedData) []wire.Frame {
	return single(wire.Frame{Step: wire.Null, Event: wire.PlanStart, Content: wire.Meta{"question": d.Question}, Show: showPlanning})
}

func (enc *encoder) planCompleted(_ *protocol.Event, d *protocol.PlanTasksData) []wire.Frame {
	return single(enc.planFrame(d.Tasks, d.Summary))
}

// planFrame encodes the tasks of a plan.
func (enc *encoder) planFrame(tasks []protocol.Task, summary string) wire.Frame {
	if summary == "" && enc.state.Plan != nil {
		summary = enc.state.Plan.Summary
	}
	return wire.Frame{
		Step: wire.Null, Event: wire.PlanCompleted, Content: wire.Meta{"tasks": wire.ForeignTasks(tasks), "plan_summary": summary},
		Meta: wire.Meta{"task_count": len(tasks), "plan_summary": summary, "statistics": []wire.Meta{}},
		Show: displayText.planned(strconv.Itoa(len(tasks))),
	}
}

func planInvalid(d *protocol.PlanErrorData) []wire.Frame {
	m := planErrorMeta(d)
	if len(d.Details) > 0 {
		m["details"] = d.Details
	}
	return single(wire.Frame{
		Step: wire.Null, Event: wire.PlanCoercion, Meta: m,
		Content: wire.Meta{"message": d.Message, "error": strings.Join(d.Details, "\n")}, Show: showPlanInvalid,
	})
}

func planCancelled(d *protocol.PlanErrorData) []wire.Frame {
	return single(wire.Frame{
		Step: wire.Null, Event: wire.PlanCancelled, Content: wire.Meta{"reason": d.Message},
		Meta: planErrorMeta(d).With("reason", d.Message), Show: showPlanCancelled,
	})
}

// planFailed encodes a failed plan as cancelled with a reason: the protocol has no event for it.
func planFailed(d *protocol.PlanErrorData) []wire.Frame {
	m := planErrorMeta(d).With("reason", d.Message)
	m["failed"] = true
	return single(wire.Frame{
		Step: wire.Null, Event: wire.PlanCancelled, Content: wire.Meta{"reason": d.Message}, Meta: m, Show: showPlanCancelled,
	})
}

func planErrorMeta(d *protocol.PlanErrorData) wire.Meta {
	return wire.Meta{}.With("error_code", string(d.Code))
}

// mergedTask returns a task of the plan, updated by the event.
func (enc *encoder) mergedTask(d *protocol.TaskData) protocol.Task {
	task := protocol.Task{ID: d.Task}
	if enc.state.Plan != nil {
		for _, known := range enc.state.Plan.Tasks {
			if known.ID == d.Task {
				task = known
			}
		}
	}
	if d.Title != "" {
		task.Title = d.Title
	}
	task.Status = "" // the event's type implies it
	return task
}

// taskFrame encodes an event of a task.
func (enc *encoder) taskFrame(event string, d *protocol.TaskData, display func(string) string) wire.Frame {
	task := enc.mergedTask(d)
	if event != wire.SolverStart {
		task.After = nil // solver.start carries it
	}
	m := wire.Meta{}.With("attempt", d.Attempt).With("execution_time_ms", d.DurationMS).With("llm_calls", d.Calls)
	m.With("error_code", string(d.Code)).With("titled", d.Title != "")
	if d.Usage != nil {
		m["tokens_used"] = usageMeta(d.Usage)
	}
	m["task_id"] = wire.TaskID(d.Task)
	f := wire.Frame{Step: wire.Null, Event: event, Content: wire.Meta{"task": wire.ForeignTask(task)}, Meta: m}
	if display != nil {
		title := task.Title
		if title == "" {
			title = task.ID
		}
		f.Show = wire.Shorten(display(title))
	}
	return f
}

// usageMeta always has input and output.
func usageMeta(u *protocol.Usage) wire.Meta {
	m := wire.Meta{"input": u.Input, "output": u.Output}
	m.With("cached", u.Cached).With("reasoning", u.Reasoning).With("cost", u.Cost)
	return m.With("currency", u.Currency).With("model", u.Model)
}

func (enc *encoder) taskStarted(e *protocol.Event, d *protocol.TaskData) []wire.Frame {
	if enc.tasks == nil || len(enc.tasks) >= wire.MaxTasks {
		enc.tasks = map[string]time.Time{}
	}
	enc.tasks[d.Task] = e.Time
	f := enc.taskFrame(wire.SolverStart, d, displayText.solving)
	f.Meta.With("message", d.Message)
	return single(f)
}

func (enc *encoder) taskProgress(_ *protocol.Event, d *protocol.TaskData) []wire.Frame {
	f := enc.taskFrame(wire.SolverProgress, d, nil)
	f.Content.(wire.Meta)["message"] = d.Message
	f.Show = wire.Shorten(d.Message)
	return single(f)
}

func (enc *encoder) taskCompleted(e *protocol.Event, d *protocol.TaskData) []wire.Frame {
	f := enc.taskFrame(wire.SolverCompleted, d, displayText.solved)
	r := taskResult{Output: resultOutput(d.Result), Summary: d.Result, Agent: enc.state.Agent}
	if o := wire.ParseObject(r.Output); o.Str("summary") != "" {
		r.Summary = o.Str("summary")
	} else if o != nil {
		r.Summary = wire.Text(r.Output)
	}
	if len(r.Summary) > maxShown {
		r.Summary = wire.Shorten(r.Summary)
	}
	if d.Usage != nil {
		r.Model = d.Usage.Model
	}
	f.Content.(wire.Meta)["result"] = r
	f.Meta["statistics"] = statistics(enc.state.Agent, "solver", d)
	enc.addResult(solverResult{
		Task: wire.ForeignTask(enc.mergedTask(d)), Output: r.Output, Summary: r.Summary, Raw: d.Result, Agent: r.Agent,
		Statistics: f.Meta["statistics"],
	})
	took := d.DurationMS
	// clients show it, so measure it if the agent does not
	if began := enc.tasks[d.Task]; took == 0 && !began.IsZero() {
		took, f.Meta["measured"] = max(0, e.Time.Sub(began).Milliseconds()), true
	}
	f.Meta["execution_time_ms"] = took
	f.Meta.With("message", d.Message)
	return single(f)
}

func (enc *encoder) taskFailed(_ *protocol.Event, d *protocol.TaskData) []wire.Frame {
	f := enc.taskFrame(wire.SolverFailed, d, nil)
	f.Content.(wire.Meta)["error"] = d.Message
	f.Show = showError
	return single(f)
}

func (enc *encoder) taskCancelled(_ *protocol.Event, d *protocol.TaskData) []wire.Frame {
	f := enc.taskFrame(wire.SolverCancelled, d, displayText.solverStopped)
	f.Meta.With("reason", d.Message)
	return single(f)
}

func (enc *encoder) taskRestarted(_ *protocol.Event, d *protocol.TaskData) []wire.Frame {
	stopped := enc.taskFrame(wire.SolverCancelled, d, displayText.solverStopped)
	stopped.Meta["implied"] = true
	f := enc.taskFrame(wire.SolverRestarted, d, displayText.solverAgain)
	f.Meta["retry_count"] = max(0, d.Attempt-1)
	f.Meta.With("reason", d.Message)
	return []wire.Frame{stopped, f}
}
