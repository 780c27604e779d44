package myagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// wholeIDs remembers which tasks have numbers for ids.
func (s *session) wholeIDs(raw json.RawMessage) {
	var list []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	s.whole = map[string]bool{}
	for _, t := range list[:min(len(list), maxTasks)] {
		if id := object(t)["id"]; len(id) > 0 && id[0] != '"' {
			s.whole[plain(id)] = true
		}
	}
}

func (h *heard) planStart() {
	h.working()
	question := h.obj.str("question")
	if question == "" && h.obj == nil {
		question = h.text()
	}
	h.add(protocol.PlanStarted, protocol.PlanStartedData{Question: question})
}

func (h *heard) planCompleted() {
	h.working()
	raw := h.obj["tasks"]
	if !h.obj.has("tasks") {
		raw = h.meta["tasks"]
	}
	d := protocol.PlanTasksData{Tasks: nativeTasks(raw), Summary: h.meta.str("plan_summary")}
	if d.Summary == "" {
		d.Summary = h.obj.str("plan_summary")
	}
	if d.Tasks == nil {
		d.Tasks = []protocol.Task{}
	}
	h.s.wholeIDs(raw)
	h.add(protocol.PlanCompleted, d)
}

func (h *heard) planCancelled() {
	d := protocol.PlanErrorData{Message: h.meta.str("reason"), Code: protocol.Code(clip(h.meta.str("error_code")))}
	if d.Message == "" {
		d.Message = h.text()
	}
	t := protocol.PlanCancelled
	if h.meta.str("failed") == "true" {
		t = protocol.PlanFailed
	}
	h.add(t, d)
	if !h.told && h.s.log.State.Turn != nil {
		h.s.lapse = h.c.now.Add(lapseAfter) // such a server may say nothing more of the turn
	}
}

func (h *heard) planInvalid() {
	h.working()
	d := protocol.PlanErrorData{Message: h.text(), Code: protocol.Code(clip(h.meta.str("error_code")))}
	if !h.meta.into("details", &d.Details) {
		d.Details = nil
		if h.meta.has("details") {
			d.Details = []string{string(h.meta["details"])}
		}
	}
	h.add(protocol.PlanInvalid, d)
}

// stepFailed: of a server that names turns, the task failed; of another one, a step of it did.
func (h *heard) stepFailed() {
	if h.told {
		h.solver(protocol.TaskFailed)
		return
	}
	h.solver(protocol.TaskProgress)
}

// solver records something of a task.
func (h *heard) solver(t protocol.Type) {
	h.working()
	of := nativeTask(h.obj["task"], 1)
	if !h.obj.has("task") {
		of = protocol.Task{ID: h.meta.str("task_id", "id")}
	}
	id := clip(of.ID)
	d := protocol.TaskData{
		Task: id, Attempt: int(h.meta.int("attempt")), DurationMS: h.ms(), Calls: int(h.meta.int("llm_calls")), Usage: h.usage(),
		Code: protocol.Code(clip(h.meta.str("error_code"))),
	}
	if h.told && h.meta.str("measured") == "true" { // by the times of the events, which our client has
		d.DurationMS = 0
	}
	if h.meta.str("titled") == "true" || !h.told {
		d.Title = of.Title
	}
	switch t {
	case protocol.TaskStarted:
		d.Message = h.meta.str("message")
	case protocol.TaskProgress:
		d.Message = h.obj.str("message", "error", "progress")
		if d.Message == "" && h.obj == nil {
			d.Message = h.text()
		}
	case protocol.TaskCompleted:
		d.Result, d.Message = result(h.obj["result"]), h.meta.str("message")
	case protocol.TaskFailed:
		d.Message = h.obj.str("error")
	case protocol.TaskRestarted:
		d.Message = h.meta.str("reason")
		if d.Attempt == 0 && !h.told {
			d.Attempt = int(h.meta.int("retry_count")) + 1
		}
	default:
		d.Message = h.meta.str("reason")
	}
	h.meta = h.meta.plus("task_id", id)
	h.add(t, d)
}

// plus returns the fields with one more.
func (o fields) plus(name, value string) fields {
	with := fields{}
	for k, v := range o {
		with[k] = v
	}
	with[name] = protocol.MustEncode(value)
	return with
}

// result is a result in words: a string itself, else its JSON.
func result(raw json.RawMessage) string {
	if s := plain(raw); s != "" || len(raw) == 0 || raw[0] == 'n' || raw[0] == '"' {
		return s
	}
	return string(raw)
}

// summing records something of the aggregation.
func (h *heard) summing(t protocol.Type) {
	h.working()
	d := protocol.AggregateData{Tasks: int(h.meta.int("task_count")), DurationMS: h.ms(), Usage: h.usage()}
	switch {
	case h.obj == nil:
		d.Text = h.text()
	case h.obj.has("output"):
		d.Text = result(h.obj["output"])
	case !h.told:
		d.Text = h.obj.str("aggregate_output", "text", "message")
	}
	if t == protocol.AggregateCompleted {
		h.s.summed = protocol.SplitText(d.Text, maxAnswer)[0]
	}
	h.add(t, d)
	if !h.told && len(h.obj) > 0 && t == protocol.PipelineCompleted {
		h.raw() // its statistics
	}
}

// pipeline ends a turn of given tasks, where the server says nothing more of it.
func (h *heard) pipeline() {
	h.summing(protocol.PipelineCompleted)
	if !h.told && h.s.solving {
		h.s.lapse = h.c.now.Add(time.Second)
	}
}
