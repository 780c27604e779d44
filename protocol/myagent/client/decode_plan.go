package client

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// noteNumericIDs notes the tasks whose ids are numbers at the server.
func (s *session) noteNumericIDs(raw json.RawMessage) {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	s.numericTasks = map[string]bool{}
	for _, t := range list[:min(len(list), wire.MaxTasks)] {
		if id := wire.ParseObject(t)["id"]; len(id) > 0 && id[0] != '"' {
			s.numericTasks[wire.Scalar(id)] = true
		}
	}
}

func (h *frameHandler) planStart() {
	h.ensureTurn()
	h.session.planDenied = false
	question := h.content.Str("question")
	if question == "" && h.content == nil {
		question = h.text()
	}
	h.record(protocol.PlanStarted, protocol.PlanStartedData{Question: question})
}

func (h *frameHandler) planCompleted() {
	if h.namesTurns && h.meta.Str("proposed") == "true" {
		return // the confirmation follows
	}
	h.ensureTurn()
	raw := h.content["tasks"]
	if !h.content.Has("tasks") {
		raw = h.meta["tasks"]
	}
	d := protocol.PlanTasksData{Tasks: wire.NativeTasks(raw), Summary: h.meta.Str("plan_summary")}
	if d.Summary == "" {
		d.Summary = h.content.Str("plan_summary")
	}
	if d.Tasks == nil {
		d.Tasks = []protocol.Task{}
	}
	h.session.noteNumericIDs(raw)
	h.record(protocol.PlanCompleted, d)
}

func (h *frameHandler) planCancelled() {
	if h.namesTurns && h.meta.Str("implied") == "true" {
		return // the turn's end follows
	}
	d := protocol.PlanErrorData{Message: h.meta.Str("reason"), Code: protocol.Code(clipID(h.meta.Str("error_code")))}
	if d.Message == "" {
		d.Message = h.content.Str("reason")
	}
	if d.Message == "" && h.content == nil {
		d.Message = h.text()
	}
	t := protocol.PlanCancelled
	if h.meta.Str("failed") == "true" {
		t = protocol.PlanFailed
	}
	h.record(t, d)
	if !h.namesTurns && h.session.log.State.Turn != nil {
		// the server may send nothing more for this turn
		h.session.turnDeadline = h.client.Now.Add(turnEndTimeout)
	}
}

func (h *frameHandler) planInvalid() {
	h.ensureTurn()
	d := protocol.PlanErrorData{Message: h.text(), Code: protocol.Code(clipID(h.meta.Str("error_code")))}
	if h.content.Has("message") {
		d.Message = h.content.Str("message")
	}
	if !h.meta.Decode("details", &d.Details) {
		d.Details = nil
		if h.meta.Has("details") {
			d.Details = []string{string(h.meta["details"])}
		}
		if cause := h.content.Str("error"); !h.namesTurns && cause != "" && cause != d.Message {
			d.Details = []string{cause}
		}
	}
	h.record(protocol.PlanInvalid, d)
}

// stepFailed records a failed task of a server that names turns. At any other server only a step of
// the task failed.
func (h *frameHandler) stepFailed() {
	if h.namesTurns {
		h.recordTask(protocol.TaskFailed)
		return
	}
	h.recordTask(protocol.TaskProgress)
}

func (h *frameHandler) taskStarted() {
	h.ensureTurn()
	h.recordTask(protocol.TaskStarted)
}

func (h *frameHandler) taskCancelled() {
	if h.namesTurns && h.meta.Str("implied") == "true" {
		return // the restart follows
	}
	h.recordTask(protocol.TaskCancelled)
}

// recordTask records an event of a task. Of a task that ends after its turn, only the state of the
// plan changes.
func (h *frameHandler) recordTask(t protocol.Type) {
	task := wire.NativeTask(h.content["task"], 1)
	if !h.content.Has("task") {
		task = protocol.Task{ID: h.meta.Str("task_id", "id")}
	}
	id := clipID(task.ID)
	d := protocol.TaskData{
		Task: id, Attempt: int(h.meta.Int("attempt")), DurationMS: h.executionMS(), Calls: int(h.meta.Int("llm_calls")),
		Usage: h.usage(),
		Code:  protocol.Code(clipID(h.meta.Str("error_code"))),
	}
	if !h.namesTurns && d.Usage == nil {
		d.Usage, d.Calls = h.statistics()
	}
	// measured by event times, which the client has too
	if h.namesTurns && h.meta.Str("measured") == "true" {
		d.DurationMS = 0
	}
	if h.meta.Str("titled") == "true" || !h.namesTurns {
		d.Title = task.Title
	}
	switch t {
	case protocol.TaskStarted:
		d.Message = h.meta.Str("message")
	case protocol.TaskProgress:
		d.Message = h.content.Str("message", "error", "progress")
		if d.Message == "" && h.content == nil {
			d.Message = h.text()
		}
	case protocol.TaskCompleted:
		d.Result, d.Message = h.result(), h.meta.Str("message")
	case protocol.TaskFailed:
		d.Message = h.content.Str("error")
	case protocol.TaskRestarted:
		d.Message = h.meta.Str("reason")
		if d.Attempt == 0 && !h.namesTurns && h.meta.Has("retry_count") {
			d.Attempt = int(h.meta.Int("retry_count")) + 1
		}
	default:
		d.Message = h.meta.Str("reason")
	}
	h.meta = h.meta.With("task_id", id)
	h.record(t, d)
	if s := h.session; !h.namesTurns && s.runsTasks && s.log.State.Turn != nil && planFinished(s.log.State.Plan) {
		// the server does not announce the end of a run of given tasks
		s.turnDeadline = h.client.Now.Add(time.Second)
	}
}

// planFinished reports whether every task of a plan ended.
func planFinished(p *protocol.Plan) bool {
	return p != nil && !slices.ContainsFunc(p.Tasks, func(t protocol.Task) bool {
		return t.Status == "" || t.Status == protocol.StatusPending || t.Status == protocol.StatusRunning
	})
}

// result returns the result of a task: at agentctl's server its output, at any other the summary,
// if there is one.
func (h *frameHandler) result() string {
	raw := h.content["result"]
	o := wire.ParseObject(raw)
	switch {
	case o.Has("output") && h.namesTurns:
		return resultText(o["output"])
	case o.Str("summary") != "" && !h.namesTurns:
		return o.Str("summary")
	case o.Has("output"):
		return resultText(o["output"])
	}
	return resultText(raw)
}

// statistics returns the usage and the calls that a frame of MyAgent lists by agent.
func (h *frameHandler) statistics() (*protocol.Usage, int) {
	var list []json.RawMessage
	h.meta.Decode("statistics", &list)
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
func (h *frameHandler) recordAggregate(t protocol.Type) {
	d := protocol.AggregateData{Tasks: int(h.meta.Int("task_count")), DurationMS: h.executionMS(), Usage: h.usage()}
	if h.namesTurns {
		h.meta.Decode("conflicts", &d.Conflicts)
	}
	var results []json.RawMessage
	if h.content.Decode("solver_results", &results) && d.Tasks == 0 && !h.meta.Has("task_count") {
		d.Tasks = len(results)
	}
	switch {
	case h.content == nil:
		d.Text = h.text()
	case h.content.Has("output"):
		d.Text = resultText(h.content["output"])
	case !h.namesTurns && t != protocol.PipelineCompleted: // which repeats the aggregation
		d.Text = h.content.Str("text", "message")
	}
	if t == protocol.AggregateCompleted {
		h.session.aggregate = protocol.SplitText(d.Text, wire.MaxAnswer)[0]
	}
	h.record(t, d)
}

func (h *frameHandler) aggregateStarted() {
	h.ensureTurn()
	h.recordAggregate(protocol.AggregateStarted)
}

// pipelineCompleted schedules the end of a run of given tasks, which a server may not announce.
func (h *frameHandler) pipelineCompleted() {
	h.recordAggregate(protocol.PipelineCompleted)
	if !h.namesTurns && h.session.runsTasks {
		h.session.turnDeadline = h.client.Now.Add(time.Second)
	}
}
