package myagent

import (
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
)

func (enc *encoder) planStarted(_ *protocol.Event, d *protocol.PlanStartedData) []frame {
	return single(frame{Step: null, Event: planStart, Content: meta{"question": d.Question}, Show: showPlanning})
}

func (enc *encoder) planCompleted(_ *protocol.Event, d *protocol.PlanTasksData) []frame {
	return single(enc.planFrame(d.Tasks, d.Summary))
}

// planFrame encodes the tasks of a plan.
func (enc *encoder) planFrame(tasks []protocol.Task, summary string) frame {
	if summary == "" && enc.state.Plan != nil {
		summary = enc.state.Plan.Summary
	}
	return frame{
		Step: null, Event: planCompleted, Content: meta{"tasks": foreignTasks(tasks), "plan_summary": summary},
		Meta: meta{"task_count": len(tasks), "plan_summary": summary, "statistics": []meta{}},
		Show: displayText.planned(strconv.Itoa(len(tasks))),
	}
}

func (enc *encoder) planInvalid(_ *protocol.Event, d *protocol.PlanErrorData) []frame {
	m := planErrorMeta(d)
	if len(d.Details) > 0 {
		m["details"] = d.Details
	}
	return single(frame{
		Step: null, Event: planCoercion, Meta: m,
		Content: meta{"message": d.Message, "error": strings.Join(d.Details, "\n")}, Show: showPlanInvalid,
	})
}

func (enc *encoder) planCancelled(_ *protocol.Event, d *protocol.PlanErrorData) []frame {
	return single(frame{
		Step: null, Event: planCancelled, Content: meta{"reason": d.Message},
		Meta: planErrorMeta(d).with("reason", d.Message), Show: showPlanCancelled,
	})
}

// planFailed encodes a failed plan as cancelled with a reason: the protocol has no event for it.
func (enc *encoder) planFailed(_ *protocol.Event, d *protocol.PlanErrorData) []frame {
	m := planErrorMeta(d).with("reason", d.Message)
	m["failed"] = true
	return single(frame{
		Step: null, Event: planCancelled, Content: meta{"reason": d.Message}, Meta: m, Show: showPlanCancelled,
	})
}

func planErrorMeta(d *protocol.PlanErrorData) meta { return meta{}.with("error_code", string(d.Code)) }

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
func (enc *encoder) taskFrame(event string, d *protocol.TaskData, display func(string) string) frame {
	task := enc.mergedTask(d)
	if event != solverStart {
		task.After = nil // solver.start carries it
	}
	m := meta{}.with("attempt", d.Attempt).with("execution_time_ms", d.DurationMS).with("llm_calls", d.Calls)
	m.with("error_code", string(d.Code)).with("titled", d.Title != "")
	if d.Usage != nil {
		m["tokens_used"] = usageMeta(d.Usage)
	}
	m["task_id"] = taskID(d.Task)
	f := frame{Step: null, Event: event, Content: meta{"task": foreignTask(task)}, Meta: m}
	if display != nil {
		title := task.Title
		if title == "" {
			title = task.ID
		}
		f.Show = shorten(display(title))
	}
	return f
}

// usageMeta always has input and output.
func usageMeta(u *protocol.Usage) meta {
	m := meta{"input": u.Input, "output": u.Output}
	m.with("cached", u.Cached).with("reasoning", u.Reasoning).with("cost", u.Cost)
	return m.with("currency", u.Currency).with("model", u.Model)
}

func (enc *encoder) taskStarted(e *protocol.Event, d *protocol.TaskData) []frame {
	if enc.tasks == nil || len(enc.tasks) >= maxTasks {
		enc.tasks = map[string]time.Time{}
	}
	enc.tasks[d.Task] = e.Time
	f := enc.taskFrame(solverStart, d, displayText.solving)
	f.Meta.with("message", d.Message)
	return single(f)
}

func (enc *encoder) taskProgress(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := enc.taskFrame(solverProgress, d, nil)
	f.Content.(meta)["message"] = d.Message
	f.Show = shorten(d.Message)
	return single(f)
}

func (enc *encoder) taskCompleted(e *protocol.Event, d *protocol.TaskData) []frame {
	f := enc.taskFrame(solverCompleted, d, displayText.solved)
	r := taskResult{Output: resultOutput(d.Result), Summary: d.Result, Agent: enc.state.Agent}
	if o := parseObject(r.Output); o.str("summary") != "" {
		r.Summary = o.str("summary")
	} else if o != nil {
		r.Summary = contentText(r.Output)
	}
	if len(r.Summary) > maxShown {
		r.Summary = shorten(r.Summary)
	}
	if d.Usage != nil {
		r.Model = d.Usage.Model
	}
	f.Content.(meta)["result"] = r
	f.Meta["statistics"] = statistics(enc.state.Agent, "solver", d)
	enc.addResult(solverResult{
		Task: foreignTask(enc.mergedTask(d)), Output: r.Output, Summary: r.Summary, Raw: d.Result, Agent: r.Agent,
		Statistics: f.Meta["statistics"],
	})
	took := d.DurationMS
	// clients show it, so measure it if the agent does not
	if began := enc.tasks[d.Task]; took == 0 && !began.IsZero() {
		took, f.Meta["measured"] = max(0, e.Time.Sub(began).Milliseconds()), true
	}
	f.Meta["execution_time_ms"] = took
	f.Meta.with("message", d.Message)
	return single(f)
}

func (enc *encoder) taskFailed(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := enc.taskFrame(solverFailed, d, nil)
	f.Content.(meta)["error"] = d.Message
	f.Show = showError
	return single(f)
}

func (enc *encoder) taskCancelled(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := enc.taskFrame(solverCancelled, d, displayText.solverStopped)
	f.Meta.with("reason", d.Message)
	return single(f)
}

func (enc *encoder) taskRestarted(_ *protocol.Event, d *protocol.TaskData) []frame {
	stopped := enc.taskFrame(solverCancelled, d, displayText.solverStopped)
	stopped.Meta["implied"] = true
	f := enc.taskFrame(solverRestarted, d, displayText.solverAgain)
	f.Meta["retry_count"] = max(0, d.Attempt-1)
	f.Meta.with("reason", d.Message)
	return []frame{stopped, f}
}
