package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// A taskResult is the result of a task. Clients show its summary.
type taskResult struct {
	Output  json.RawMessage `json:"output"`
	Summary string          `json:"summary"`
	Agent   string          `json:"agent_name"`
	Model   string          `json:"model"`
}

// A solverResult is a task's result in the frames of the aggregation.
type solverResult struct {
	Task       wire.Meta       `json:"task"`
	Output     json.RawMessage `json:"output"`
	Summary    string          `json:"summary"`
	Raw        string          `json:"raw_output"`
	Agent      string          `json:"agent_name"`
	Statistics any             `json:"statistics"`
}

// maxResults bounds the texts of the results that a turn collects for its aggregation, in bytes.
const maxResults = 64 << 10

// addResult collects a task's result, without its text if that is too long. It replaces the result
// of an earlier attempt.
func (t *turn) addResult(r solverResult) {
	id := string(protocol.MustEncode(r.Task["id"]))
	before, again := t.results[id]
	switch {
	case t.results == nil:
		t.results = map[string]solverResult{}
	case !again && len(t.results) >= wire.MaxTasks:
		return
	}
	if t.resultBytes -= len(before.Raw); t.resultBytes+len(r.Raw) > maxResults {
		r.Output, r.Summary, r.Raw = wire.Null, "", ""
	}
	t.resultBytes += len(r.Raw)
	if t.results[id] = r; !again {
		t.resultOrder = append(t.resultOrder, id)
	}
}

// solverResults returns the collected results in the order of the tasks' ends.
func (t *turn) solverResults() []solverResult {
	all := make([]solverResult, len(t.resultOrder))
	for i, id := range t.resultOrder {
		all[i] = t.results[id]
	}
	return all
}

// resultOutput returns a result as JSON: an object as it is, other text as a string.
func resultOutput(result string) json.RawMessage {
	if raw, ok := protocol.Compact([]byte(result)); ok && raw[0] == '{' && string(raw) == result {
		return raw
	}
	return protocol.MustEncode(result)
}

// statistics returns the usage of a task as MyAgent lists it: by agent, or nothing if the agent did
// not report any.
func statistics(agent, origin string, d *protocol.TaskData) []wire.Meta {
	if d.Usage == nil {
		return []wire.Meta{}
	}
	u := d.Usage
	return []wire.Meta{{
		"agent": agent, "model": u.Model, "origin": origin, "total_calls": d.Calls, "total_input_tokens": u.Input,
		"total_output_tokens": u.Output, "total_tokens": u.Input + u.Output, "calls": []any{},
		"running_totals": wire.Meta{"input_tokens": u.Input, "output_tokens": u.Output, "max_input_tokens": nil},
	}}
}

func (enc *encoder) aggregateStarted(_ *protocol.Event, d *protocol.AggregateData) []wire.Frame {
	return single(enc.aggregateFrame(wire.AggregateStart, d, showAggregating))
}

func (enc *encoder) aggregateCompleted(_ *protocol.Event, d *protocol.AggregateData) []wire.Frame {
	if enc.aggregate = d.Text; len(enc.aggregate) > wire.MaxAnswer {
		enc.aggregate = protocol.SplitText(enc.aggregate, wire.MaxAnswer)[0]
	}
	return single(enc.aggregateFrame(wire.AggregateCompleted, d, showAggregated))
}

func (enc *encoder) pipelineCompleted(_ *protocol.Event, d *protocol.AggregateData) []wire.Frame {
	f := enc.aggregateFrame(wire.PipelineCompleted, d, showPipeline)
	f.Content.(wire.Meta)["aggregate_output"] = resultOutput(d.Text)
	f.Meta["statistics"] = []wire.Meta{}
	return single(f)
}

// aggregateFrame encodes an event of the aggregation, with the plan and the results before it.
func (enc *encoder) aggregateFrame(event string, d *protocol.AggregateData, display string) wire.Frame {
	m := wire.Meta{"task_count": d.Tasks}.With("execution_time_ms", d.DurationMS)
	if d.Usage != nil {
		m["tokens_used"] = usageMeta(d.Usage)
	}
	if len(d.Conflicts) > 0 {
		m["conflicts"] = d.Conflicts
	}
	plan := enc.state.Plan
	if plan == nil {
		plan = new(protocol.Plan)
	}
	content := wire.Meta{
		"context": wire.Meta{
			"name": enc.state.Agent, "question": plan.Question, "tasks": wire.ForeignTasks(plan.Tasks),
			"plan_summary": plan.Summary, "raw_plan_output": "", "plan_statistics": []any{},
		},
		"solver_results": enc.solverResults(),
	}
	if event != wire.AggregateStart {
		content["output"] = resultOutput(d.Text)
	} else {
		content.With("output", d.Text)
	}
	return wire.Frame{Step: wire.Null, Event: event, Content: content, Meta: m, Show: display}
}
