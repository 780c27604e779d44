package client

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// noteNumericIDs notes the tasks whose ids are numbers at the server.
func (dec *decoder) noteNumericIDs(raw json.RawMessage) {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	dec.numericTasks = map[string]bool{}
	for _, t := range list[:min(len(list), wire.MaxTasks)] {
		if id := wire.ParseObject(t)["id"]; len(id) > 0 && id[0] != '"' {
			dec.numericTasks[wire.Scalar(id)] = true
		}
	}
}

func (dec *decoder) planStart(f *frame) {
	dec.planDenied = false
	question := f.content.Str("question")
	if question == "" && f.content == nil {
		question = f.text()
	}
	f.add(protocol.PlanStarted, protocol.PlanStartedData{Question: question})
}

func (dec *decoder) planCompleted(f *frame) {
	if f.namesTurns && f.meta.Str("proposed") == "true" {
		return // the confirmation follows
	}
	raw := f.content["tasks"]
	if !f.content.Has("tasks") {
		raw = f.meta["tasks"]
	}
	d := protocol.PlanTasksData{Tasks: wire.NativeTasks(raw), Summary: f.meta.Str("plan_summary")}
	if d.Summary == "" {
		d.Summary = f.content.Str("plan_summary")
	}
	if d.Tasks == nil {
		d.Tasks = []protocol.Task{}
	}
	dec.noteNumericIDs(raw)
	f.add(protocol.PlanCompleted, d)
}

func (dec *decoder) planCancelled(f *frame) {
	if f.namesTurns && f.meta.Str("implied") == "true" {
		return // the turn's end follows
	}
	d := protocol.PlanErrorData{Message: f.meta.Str("reason"), Code: protocol.Code(clipID(f.meta.Str("error_code")))}
	if d.Message == "" {
		d.Message = f.content.Str("reason")
	}
	if d.Message == "" && f.content == nil {
		d.Message = f.text()
	}
	t := protocol.PlanCancelled
	if f.meta.Str("failed") == "true" {
		t = protocol.PlanFailed
	}
	f.add(t, d)
	if !f.namesTurns && f.state.Turn != nil {
		// the server may send nothing more for this turn
		dec.turnDeadline = f.now.Add(turnEndTimeout)
	}
}

func (f *frame) planInvalid() {
	d := protocol.PlanErrorData{Message: f.text(), Code: protocol.Code(clipID(f.meta.Str("error_code")))}
	if f.content.Has("message") {
		d.Message = f.content.Str("message")
	}
	if !f.meta.Decode("details", &d.Details) {
		d.Details = nil
		if f.meta.Has("details") {
			d.Details = []string{string(f.meta["details"])}
		}
		if cause := f.content.Str("error"); !f.namesTurns && cause != "" && cause != d.Message {
			d.Details = []string{cause}
		}
	}
	f.add(protocol.PlanInvalid, d)
}

// stepFailed records a failed task of a server that names turns. At any other server only a step of
// the task failed.
func (f *frame) stepFailed() {
	if f.namesTurns {
		f.recordTask(protocol.TaskFailed)
		return
	}
	f.recordTask(protocol.TaskProgress)
}

func (f *frame) taskCancelled() {
	if f.namesTurns && f.meta.Str("implied") == "true" {
		return // the restart follows
	}
	f.recordTask(protocol.TaskCancelled)
}

// recordTask records an event of a task. Of a task that ends after its turn, only the state of the
// plan changes.
func (f *frame) recordTask(t protocol.Type) {
	task := wire.NativeTask(f.content["task"], 1)
	if !f.content.Has("task") {
		task = protocol.Task{ID: f.meta.Str("task_id", "id")}
	}
	id := clipID(task.ID)
	d := protocol.TaskData{
		Task: id, Attempt: int(f.meta.Int("attempt")), DurationMS: f.executionMS(), Calls: int(f.meta.Int("llm_calls")),
		Usage: f.usage(),
		Code:  protocol.Code(clipID(f.meta.Str("error_code"))),
	}
	if !f.namesTurns && d.Usage == nil {
		d.Usage, d.Calls = f.statistics()
	}
	// measured by event times, which the client has too
	if f.namesTurns && f.meta.Str("measured") == "true" {
		d.DurationMS = 0
	}
	if f.meta.Str("titled") == "true" || !f.namesTurns {
		d.Title = task.Title
	}
	switch t {
	case protocol.TaskStarted:
		d.Message = f.meta.Str("message")
	case protocol.TaskProgress:
		d.Message = f.content.Str("message", "error", "progress")
		if d.Message == "" && f.content == nil {
			d.Message = f.text()
		}
	case protocol.TaskCompleted:
		d.Result, d.Message = f.result(), f.meta.Str("message")
	case protocol.TaskFailed:
		d.Message = f.content.Str("error")
	case protocol.TaskRestarted:
		d.Message = f.meta.Str("reason")
		if d.Attempt == 0 && !f.namesTurns && f.meta.Has("retry_count") {
			d.Attempt = int(f.meta.Int("retry_count")) + 1
		}
	default:
		d.Message = f.meta.Str("reason")
	}
	f.meta = f.meta.With("task_id", id)
	f.add(t, d)
	f.ofTask = true
}

// planFinished reports whether every task of a plan ended.
func planFinished(p *protocol.Plan) bool {
	return p != nil && !slices.ContainsFunc(p.Tasks, func(t protocol.Task) bool {
		return t.Status == "" || t.Status == protocol.StatusPending || t.Status == protocol.StatusRunning
	})
}

// result returns the result of a task: at agentctl's server its output, at any other the summary,
// if there is one.
func (f *frame) result() string {
	raw := f.content["result"]
	o := wire.ParseObject(raw)
	switch {
	case o.Has("output") && f.namesTurns:
		return resultText(o["output"])
	case o.Str("summary") != "" && !f.namesTurns:
		return o.Str("summary")
	case o.Has("output"):
		return resultText(o["output"])
	}
	return resultText(raw)
}

// statistics returns the usage and the calls that a frame of MyAgent lists by agent.
func (f *frame) statistics() (*protocol.Usage, int) {
	var list []json.RawMessage
	f.meta.Decode("statistics", &list)
	u, calls := new(protocol.Usage), 0
	for _, raw := range list[:min(len(list), wire.MaxTasks)] {
		o := wire.ParseObject(raw)
		u.Input += o.Int("total_input_tokens")
		u.Output += o.Int("total_output_tokens")
		u.Model = clipID(o.Str("model"))
		calls += int(o.Int("total_calls"))
	}
	if u.Input+u.Output == 0 {
		return nil, calls
	}
	return u, calls
}

// resultText returns a result as text: a string as it is, or else the JSON.
func resultText(raw json.RawMessage) string {
	if s := wire.Scalar(raw); s != "" || len(raw) == 0 || raw[0] == 'n' || raw[0] == '"' {
		return s
	}
	return string(raw)
}

// recordAggregate records an event of the aggregation.
func (dec *decoder) recordAggregate(f *frame, t protocol.Type) {
	d := protocol.AggregateData{Tasks: int(f.meta.Int("task_count")), DurationMS: f.executionMS(), Usage: f.usage()}
	if f.namesTurns {
		f.meta.Decode("conflicts", &d.Conflicts)
	}
	var results []json.RawMessage
	if f.content.Decode("solver_results", &results) && d.Tasks == 0 && !f.meta.Has("task_count") {
		d.Tasks = len(results)
	}
	switch {
	case f.content == nil:
		d.Text = f.text()
	case f.content.Has("output"):
		d.Text = resultText(f.content["output"])
	case !f.namesTurns && t != protocol.PipelineCompleted: // which repeats the aggregation
		d.Text = f.content.Str("text", "message")
	}
	if t == protocol.AggregateCompleted {
		dec.aggregate = protocol.SplitText(d.Text, wire.MaxAnswer)[0]
	}
	f.add(t, d)
}

// pipelineCompleted schedules the end of a run of given tasks, which a server may not announce.
func (dec *decoder) pipelineCompleted(f *frame) {
	dec.recordAggregate(f, protocol.PipelineCompleted)
	if !f.namesTurns && dec.runsTasks {
		dec.turnDeadline = f.now.Add(time.Second)
	}
}
