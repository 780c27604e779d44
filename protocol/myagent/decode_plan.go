package myagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// noteNumericIDs notes the tasks whose ids are numbers at the server.
func (s *session) noteNumericIDs(raw json.RawMessage) {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	s.numericTasks = map[string]bool{}
	for _, t := range list[:min(len(list), maxTasks)] {
		if id := parseObject(t)["id"]; len(id) > 0 && id[0] != '"' {
			s.numericTasks[scalarText(id)] = true
		}
	}
}

func (h *frameHandler) planStart() {
	h.ensureTurn()
	h.session.planDenied = false
	question := h.content.str("question")
	if question == "" && h.content == nil {
		question = h.text()
	}
	h.record(protocol.PlanStarted, protocol.PlanStartedData{Question: question})
}

func (h *frameHandler) planCompleted() {
	if h.namesTurns && h.meta.str("proposed") == "true" {
		return // the confirmation follows
	}
	h.ensureTurn()
	raw := h.content["tasks"]
	if !h.content.has("tasks") {
		raw = h.meta["tasks"]
	}
	d := protocol.PlanTasksData{Tasks: nativeTasks(raw), Summary: h.meta.str("plan_summary")}
	if d.Summary == "" {
		d.Summary = h.content.str("plan_summary")
	}
	if d.Tasks == nil {
		d.Tasks = []protocol.Task{}
	}
	h.session.noteNumericIDs(raw)
	h.record(protocol.PlanCompleted, d)
}

func (h *frameHandler) planCancelled() {
	if h.namesTurns && h.meta.str("implied") == "true" {
		return // the turn's end follows
	}
	d := protocol.PlanErrorData{Message: h.meta.str("reason"), Code: protocol.Code(clipID(h.meta.str("error_code")))}
	if d.Message == "" {
		d.Message = h.content.str("reason")
	}
	if d.Message == "" && h.content == nil {
		d.Message = h.text()
	}
	t := protocol.PlanCancelled
	if h.meta.str("failed") == "true" {
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
	d := protocol.PlanErrorData{Message: h.text(), Code: protocol.Code(clipID(h.meta.str("error_code")))}
	if h.content.has("message") {
		d.Message = h.content.str("message")
	}
	if !h.meta.decode("details", &d.Details) {
		d.Details = nil
		if h.meta.has("details") {
			d.Details = []string{string(h.meta["details"])}
		}
		if cause := h.content.str("error"); !h.namesTurns && cause != "" && cause != d.Message {
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
	if h.namesTurns && h.meta.str("implied") == "true" {
		return // the restart follows
	}
	h.recordTask(protocol.TaskCancelled)
}

// recordTask records an event of a task. Of a task that ends after its turn, only the state of the
// plan changes.
func (h *frameHandler) recordTask(t protocol.Type) {
	task := nativeTask(h.content["task"], 1)
	if !h.content.has("task") {
		task = protocol.Task{ID: h.meta.str("task_id", "id")}
	}
	id := clipID(task.ID)
	d := protocol.TaskData{
		Task: id, Attempt: int(h.meta.int("attempt")), DurationMS: h.executionMS(), Calls: int(h.meta.int("llm_calls")),
		Usage: h.usage(),
		Code:  protocol.Code(clipID(h.meta.str("error_code"))),
	}
	if !h.namesTurns && d.Usage == nil {
		d.Usage, d.Calls = h.statistics()
	}
	// measured by event times, which the client has too
	if h.namesTurns && h.meta.str("measured") == "true" {
		d.DurationMS = 0
	}
	if h.meta.str("titled") == "true" || !h.namesTurns {
		d.Title = task.Title
	}
	switch t {
	case protocol.TaskStarted:
		d.Message = h.meta.str("message")
	case protocol.TaskProgress:
		d.Message = h.content.str("message", "error", "progress")
		if d.Message == "" && h.content == nil {
			d.Message = h.text()
		}
	case protocol.TaskCompleted:
		d.Result, d.Message = h.result(), h.meta.str("message")
	case protocol.TaskFailed:
		d.Message = h.content.str("error")
	case protocol.TaskRestarted:
		d.Message = h.meta.str("reason")
		if d.Attempt == 0 && !h.namesTurns && h.meta.has("retry_count") {
			d.Attempt = int(h.meta.int("retry_count")) + 1
		}
	default:
		d.Message = h.meta.str("reason")
	}
	h.meta = h.meta.withField("task_id", id)
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
	o := parseObject(raw)
	switch {
	case o.has("output") && h.namesTurns:
		return resultText(o["output"])
	case o.str("summary") != "" && !h.namesTurns:
		return o.str("summary")
	case o.has("output"):
		return resultText(o["output"])
	}
	return resultText(raw)
}

// statistics returns the usage and the calls that a frame of MyAgent lists by agent.
func (h *frameHandler) statistics() (*protocol.Usage, int) {
	var list []json.RawMessage
	h.meta.decode("statistics", &list)
	u, calls := new(protocol.Usage), 0
	for _, raw := range list[:min(len(list), maxTasks)] {
		o := parseObject(raw)
		u.Input += o.int("total_input_tokens")
		u.Output += o.int("total_output_tokens")
		u.Model = clipID(o.str("model"))
		calls += int(o.int("total_calls"))
	}
	if u.Input+u.Output == 0 {
		return nil, calls
	}
	return u, calls
}

// withField returns a copy with one more field.
func (o fields) withField(name, value string) fields {
	with := fields{}
	for k, v := range o {
		with[k] = v
	}
	with[name] = protocol.MustEncode(value)
	return with
}

// resultText returns a result as text: a string as it is, or else the JSON.
func resultText(raw json.RawMessage) string {
	if s := scalarText(raw); s != "" || len(raw) == 0 || raw[0] == 'n' || raw[0] == '"' {
		return s
	}
	return string(raw)
}

// recordAggregate records an event of the aggregation.
func (h *frameHandler) recordAggregate(t protocol.Type) {
	d := protocol.AggregateData{Tasks: int(h.meta.int("task_count")), DurationMS: h.executionMS(), Usage: h.usage()}
	if h.namesTurns {
		h.meta.decode("conflicts", &d.Conflicts)
	}
	var results []json.RawMessage
	if h.content.decode("solver_results", &results) && d.Tasks == 0 && !h.meta.has("task_count") {
		d.Tasks = len(results)
	}
	switch {
	case h.content == nil:
		d.Text = h.text()
	case h.content.has("output"):
		d.Text = resultText(h.content["output"])
	case !h.namesTurns && t != protocol.PipelineCompleted: // which repeats the aggregation
		d.Text = h.content.str("text", "message")
	}
	if t == protocol.AggregateCompleted {
		h.session.aggregate = protocol.SplitText(d.Text, maxAnswer)[0]
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
