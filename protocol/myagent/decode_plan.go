package myagent

import (
	"encoding/json"
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
	question := h.content.str("question")
	if question == "" && h.content == nil {
		question = h.text()
	}
	h.record(protocol.PlanStarted, protocol.PlanStartedData{Question: question})
}

func (h *frameHandler) planCompleted() {
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
	d := protocol.PlanErrorData{Message: h.meta.str("reason"), Code: protocol.Code(clipID(h.meta.str("error_code")))}
	if d.Message == "" {
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
	if !h.meta.decode("details", &d.Details) {
		d.Details = nil
		if h.meta.has("details") {
			d.Details = []string{string(h.meta["details"])}
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

// recordTask records an event of a task.
func (h *frameHandler) recordTask(t protocol.Type) {
	h.ensureTurn()
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
		d.Result, d.Message = resultText(h.content["result"]), h.meta.str("message")
	case protocol.TaskFailed:
		d.Message = h.content.str("error")
	case protocol.TaskRestarted:
		d.Message = h.meta.str("reason")
		if d.Attempt == 0 && !h.namesTurns {
			d.Attempt = int(h.meta.int("retry_count")) + 1
		}
	default:
		d.Message = h.meta.str("reason")
	}
	h.meta = h.meta.withField("task_id", id)
	h.record(t, d)
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
	h.ensureTurn()
	d := protocol.AggregateData{Tasks: int(h.meta.int("task_count")), DurationMS: h.executionMS(), Usage: h.usage()}
	switch {
	case h.content == nil:
		d.Text = h.text()
	case h.content.has("output"):
		d.Text = resultText(h.content["output"])
	case !h.namesTurns:
		d.Text = h.content.str("aggregate_output", "text", "message")
	}
	if t == protocol.AggregateCompleted {
		h.session.aggregate = protocol.SplitText(d.Text, maxAnswer)[0]
	}
	h.record(t, d)
	if !h.namesTurns && len(h.content) > 0 && t == protocol.PipelineCompleted {
		h.recordRaw() // keeps its statistics
	}
}

// pipelineCompleted schedules the end of a run of given tasks, which a server may not announce.
func (h *frameHandler) pipelineCompleted() {
	h.recordAggregate(protocol.PipelineCompleted)
	if !h.namesTurns && h.session.runsTasks {
		h.session.turnDeadline = h.client.Now.Add(time.Second)
	}
}
