package turns

import (
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// Plan is the plan of a turn. It has what the plan of the state lacks: times, attempts and results.
type Plan struct {
	Title   string // the question of the plan, later its summary
	Tasks   []Task
	Phase   protocol.Type          // plan.invalid, plan.cancelled, plan.failed, aggregate.started, or "" otherwise
	Error   protocol.PlanErrorData // of a plan that is invalid, cancelled or failed
	Failed  bool                   // the plan was invalid, cancelled or failed
	Started time.Time
	Ended   time.Time
	waits   *protocol.Waits // of its turn
}

// Task is a task of a plan.
type Task struct {
	protocol.Task
	Started, Ended time.Time
	Reported       time.Duration // duration reported by the agent; 0: none
	Attempt        int
	Message        string // the latest progress, reason or error
	Result         string
	waits          *protocol.Waits // of its turn
}

// IsPlanEvent reports whether events of type t belong to a plan.
func IsPlanEvent(t protocol.Type) bool {
	kind, _, _ := strings.Cut(string(t), ".")
	return kind == "plan" || kind == "task" || kind == "aggregate" || t == protocol.PipelineCompleted
}

// apply applies an event of the plan.
func (p *Plan) apply(it *protocol.Item) {
	if p.Started.IsZero() {
		p.Started = it.Started
	}
	switch it.Type {
	case protocol.PlanStarted:
		title := remote.DecodeData[protocol.PlanStartedData](it.Data).Question
		*p = Plan{Title: title, Started: it.Started, waits: p.waits}
	case protocol.PlanUpdated, protocol.PlanCompleted:
		d := remote.DecodeData[protocol.PlanTasksData](it.Data)
		p.setTasks(d.Tasks, it.Started)
		if d.Summary != "" {
			p.Title = d.Summary
		}
	case protocol.PlanInvalid, protocol.PlanCancelled, protocol.PlanFailed:
		p.Phase, p.Error = it.Type, *remote.DecodeData[protocol.PlanErrorData](it.Data)
		p.Failed, p.Ended = true, it.Started
	case protocol.AggregateStarted:
		p.Phase = it.Type
	case protocol.AggregateCompleted, protocol.PipelineCompleted:
		p.Phase, p.Ended = "", it.Started
	default:
		p.applyTask(it)
	}
}

// setTasks replaces the list of tasks. It keeps the times and results of known tasks.
func (p *Plan) setTasks(tasks []protocol.Task, at time.Time) {
	updated := make([]Task, len(tasks))
	for i, t := range tasks {
		updated[i] = Task{Task: t, waits: p.waits}
		if known := p.Task(t.ID); known != nil {
			updated[i] = *known
			if updated[i].Task = t; t.Status == "" {
				updated[i].Status = known.Status
			}
			if updated[i].Status == known.Status {
				continue
			}
		}
		updated[i].setTimes(at)
	}
	p.Tasks = updated
}

// applyTask applies an event of one task. It adds an unknown task.
func (p *Plan) applyTask(it *protocol.Item) {
	d := remote.DecodeData[protocol.TaskData](it.Data)
	t := p.Task(d.Task)
	if t == nil {
		p.Tasks = append(p.Tasks, Task{Task: protocol.Task{ID: d.Task, Title: d.Task}, waits: p.waits})
		t = &p.Tasks[len(p.Tasks)-1]
	}
	if d.Title != "" {
		t.Title = d.Title
	}
	t.Attempt = max(t.Attempt, d.Attempt)
	t.Message = d.Message
	if d.Result != "" {
		t.Result = d.Result
	}
	t.Reported = format.Millis(d.DurationMS)
	status := t.Status
	switch it.Type {
	case protocol.TaskStarted:
		status = protocol.StatusRunning
	case protocol.TaskCompleted:
		status = protocol.StatusCompleted
	case protocol.TaskFailed:
		status = protocol.StatusFailed
	case protocol.TaskCancelled:
		status = protocol.StatusCancelled
	case protocol.TaskRestarted:
		status, t.Started, t.Result = protocol.StatusPending, time.Time{}, ""
	}
	if status != t.Status {
		t.Status = status
		t.setTimes(it.Started)
	}
}

// Task returns the task with an id, or nil.
func (p *Plan) Task(id string) *Task {
	if i := slices.IndexFunc(p.Tasks, func(t Task) bool { return t.ID == id }); i >= 0 {
		return &p.Tasks[i]
	}
	return nil
}

// setTimes records at as the start or the end of the task, by its status.
func (t *Task) setTimes(at time.Time) {
	switch t.Status {
	case protocol.StatusRunning:
		t.Started, t.Ended = at, time.Time{}
	case protocol.StatusCompleted, protocol.StatusFailed, protocol.StatusCancelled:
		t.Ended = at
	}
}

// Worked returns how long a finished task worked, or 0 if that is not known. A time that the agent
// reports may contain its waiting.
func (t *Task) Worked() time.Duration {
	if t.Started.IsZero() || t.Ended.IsZero() {
		return t.Reported
	}
	work, waited := t.WorkedUntil(t.Ended)
	if t.Reported > 0 && (waited == 0 || t.Reported < work) {
		return t.Reported
	}
	return work
}

// WorkedUntil returns how long a task that has started worked, and how long it waited for people.
func (t *Task) WorkedUntil(now time.Time) (work, waited time.Duration) {
	return t.waits.Split(protocol.TurnPart{Task: t.ID}, t.Started, now)
}

// Waiting reports whether a running task waits for a decision.
func (t *Task) Waiting() bool {
	return t.Status == protocol.StatusRunning && t.waits.Pending(protocol.TurnPart{Task: t.ID})
}

// Took returns how long a plan that ended worked, and how long it waited for people.
func (p *Plan) Took() (work, waited time.Duration) {
	return p.waits.Split(protocol.TurnPart{}, p.Started, p.Ended)
}

// applyPlan applies an event to the plan, if it is one of a plan.
func (t *Turns) applyPlan(e *protocol.Event, items []*protocol.Item) {
	if !IsPlanEvent(e.Type) {
		return
	}
	t.planStale = false
	for _, it := range items {
		if t.plan == nil {
			t.plan = &Plan{waits: t.Waits()}
		}
		t.plan.apply(it)
	}
}

// Plan returns the plan of the running turn, or nil.
func (t *Turns) Plan() *Plan { return t.plan }

// PlanStale reports whether the session's newest plan is older than the start of the newest turn.
func (t *Turns) PlanStale() bool { return t.planStale }
