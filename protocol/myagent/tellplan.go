package myagent

import (
	"strconv"
	"time"

	"agentctl/protocol"
)

func (t *teller) planStarted(_ *protocol.Event, d *protocol.PlanStartedData) []frame {
	return one(frame{Event: planStart, Content: meta{"question": d.Question}, Show: showPlanning})
}

func (t *teller) planCompleted(_ *protocol.Event, d *protocol.PlanTasksData) []frame {
	summary := d.Summary
	if summary == "" && t.state.Plan != nil {
		summary = t.state.Plan.Summary
	}
	return one(frame{
		Event: planCompleted, Content: meta{"tasks": foreignTasks(d.Tasks)},
		Meta: meta{"task_count": len(d.Tasks), "plan_summary": summary}, Show: show.planned(strconv.Itoa(len(d.Tasks))),
	})
}

func (t *teller) planInvalid(_ *protocol.Event, d *protocol.PlanErrorData) []frame {
	m := fault(d)
	if len(d.Details) > 0 {
		m["details"] = d.Details
	}
	return one(frame{Event: planCoercion, Content: d.Message, Meta: m, Show: showPlanBad})
}

func (t *teller) planCancelled(_ *protocol.Event, d *protocol.PlanErrorData) []frame {
	return one(frame{Event: planCancelled, Content: null, Meta: fault(d).with("reason", d.Message), Show: showPlanGone})
}

// planFailed: a plan that failed is told as cancelled, for its reason; no other word ends one.
func (t *teller) planFailed(_ *protocol.Event, d *protocol.PlanErrorData) []frame {
	m := fault(d).with("reason", d.Message)
	m["failed"] = true
	return one(frame{Event: planCancelled, Content: null, Meta: m, Show: showPlanGone})
}

func fault(d *protocol.PlanErrorData) meta { return meta{}.with("error_code", string(d.Code)) }

// task returns a task as the plan has it, by what the event says where it says more.
func (t *teller) task(d *protocol.TaskData) protocol.Task {
	of := protocol.Task{ID: d.Task}
	if t.state.Plan != nil {
		for _, known := range t.state.Plan.Tasks {
			if known.ID == d.Task {
				of = known
			}
		}
	}
	if d.Title != "" {
		of.Title = d.Title
	}
	of.Status = "" // told by the event
	return of
}

// solver tells something of a task.
func (t *teller) solver(event string, d *protocol.TaskData, display func(string) string) frame {
	of := t.task(d)
	if event != solverStart {
		of.Description, of.After = "", nil // said when it began
	}
	m := meta{}.with("attempt", d.Attempt).with("execution_time_ms", d.DurationMS).with("llm_calls", d.Calls)
	m.with("error_code", string(d.Code)).with("titled", d.Title != "")
	if d.Usage != nil {
		m["tokens_used"] = tokens(d.Usage)
	}
	m["task_id"] = taskID(d.Task)
	f := frame{Event: event, Content: meta{"task": foreignTask(of)}, Meta: m}
	if display != nil {
		title := of.Title
		if title == "" {
			title = of.ID
		}
		f.Show = shorten(display(title))
	}
	return f
}

// tokens always has input and output.
func tokens(u *protocol.Usage) meta {
	return meta{"input": u.Input, "output": u.Output}.with("cached", u.Cached).with("reasoning", u.Reasoning).with("cost", u.Cost).
		with("currency", u.Currency).with("model", u.Model)
}

func (t *teller) taskStarted(e *protocol.Event, d *protocol.TaskData) []frame {
	if t.tasks == nil || len(t.tasks) >= maxTasks {
		t.tasks = map[string]time.Time{}
	}
	t.tasks[d.Task] = e.Time
	f := t.solver(solverStart, d, show.solving)
	f.Meta.with("message", d.Message)
	return one(f)
}

func (t *teller) taskProgress(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := t.solver(solverProgress, d, nil)
	f.Content.(meta)["message"] = d.Message
	f.Show = shorten(d.Message)
	return one(f)
}

func (t *teller) taskCompleted(e *protocol.Event, d *protocol.TaskData) []frame {
	f := t.solver(solverCompleted, d, show.solved)
	f.Content.(meta)["result"] = d.Result
	if raw, ok := protocol.Compact([]byte(d.Result)); ok && raw[0] == '{' && string(raw) == d.Result {
		f.Content.(meta)["result"] = raw
	}
	took := d.DurationMS
	if began := t.tasks[d.Task]; took == 0 && !began.IsZero() { // clients show it, so it is there even if the agent does not say it
		took, f.Meta["measured"] = max(0, e.Time.Sub(began).Milliseconds()), true
	}
	f.Meta["execution_time_ms"] = took
	f.Meta.with("message", d.Message)
	return one(f)
}

func (t *teller) taskFailed(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := t.solver(solverFailed, d, nil)
	f.Content.(meta)["error"] = d.Message
	f.Show = showError
	return one(f)
}

func (t *teller) taskCancelled(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := t.solver(solverCancelled, d, show.solverStopped)
	f.Meta.with("reason", d.Message)
	return one(f)
}

func (t *teller) taskRestarted(_ *protocol.Event, d *protocol.TaskData) []frame {
	f := t.solver(solverRestarted, d, show.solverAgain)
	f.Meta["retry_count"] = max(0, d.Attempt-1)
	f.Meta.with("reason", d.Message)
	return one(f)
}

func (t *teller) aggregateStarted(_ *protocol.Event, d *protocol.AggregateData) []frame {
	return one(t.summing(aggregateStart, d, showAggregating))
}

func (t *teller) aggregateCompleted(_ *protocol.Event, d *protocol.AggregateData) []frame {
	if t.aggregate = d.Text; len(t.aggregate) > maxAnswer {
		t.aggregate = protocol.SplitText(t.aggregate, maxAnswer)[0]
	}
	return one(t.summing(aggregateCompleted, d, showAggregated))
}

func (t *teller) pipelineCompleted(_ *protocol.Event, d *protocol.AggregateData) []frame {
	return one(t.summing(pipelineCompleted, d, showPipeline))
}

func (t *teller) summing(event string, d *protocol.AggregateData, display string) frame {
	m := meta{"task_count": d.Tasks}.with("execution_time_ms", d.DurationMS)
	if d.Usage != nil {
		m["tokens_used"] = tokens(d.Usage)
	}
	return frame{Event: event, Content: meta{}.with("output", d.Text), Meta: m, Show: display}
}
