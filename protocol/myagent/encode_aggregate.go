package myagent

import (
	"encoding/json"

	"agentctl/protocol"
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
	Task       meta            `json:"task"`
	Output     json.RawMessage `json:"output"`
	Summary    string          `json:"summary"`
	Raw        string          `json:"raw_output"`
	Agent      string          `json:"agent_name"`
	Statistics any             `json:"statistics"`
}

// maxResults bounds the texts of the results that a turn collects for its aggregation, in bytes.
const maxResults = 64 << 10

// addResult collects a task's result, without its text if that is too much. It replaces the one of
// an earlier attempt.
func (t *serverTurn) addResult(r solverResult) {
	id := string(protocol.MustEncode(r.Task["id"]))
	before, again := t.results[id]
	switch {
	case t.results == nil:
		t.results = map[string]solverResult{}
	case !again && len(t.results) >= maxTasks:
		return
	}
	if t.resultBytes -= len(before.Raw); t.resultBytes+len(r.Raw) > maxResults {
		r.Output, r.Summary, r.Raw = null, "", ""
	}
	t.resultBytes += len(r.Raw)
	if t.results[id] = r; !again {
		t.resultOrder = append(t.resultOrder, id)
	}
}

// solverResults returns the collected results in the order of the tasks' ends.
func (t *serverTurn) solverResults() []solverResult {
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
func statistics(agent, origin string, d *protocol.TaskData) []meta {
	if d.Usage == nil {
		return []meta{}
	}
	u := d.Usage
	return []meta{{
		"agent": agent, "model": u.Model, "origin": origin, "total_calls": d.Calls, "total_input_tokens": u.Input,
		"total_output_tokens": u.Output, "total_tokens": u.Input + u.Output, "calls": []any{},
		"running_totals": meta{"input_tokens": u.Input, "output_tokens": u.Output, "max_input_tokens": nil},
	}}
}

func (enc *encoder) aggregateStarted(_ *protocol.Event, d *protocol.AggregateData) []frame {
	return single(enc.aggregateFrame(aggregateStart, d, showAggregating))
}

func (enc *encoder) aggregateCompleted(_ *protocol.Event, d *protocol.AggregateData) []frame {
	if enc.aggregate = d.Text; len(enc.aggregate) > maxAnswer {
		enc.aggregate = protocol.SplitText(enc.aggregate, maxAnswer)[0]
	}
	return single(enc.aggregateFrame(aggregateCompleted, d, showAggregated))
}

func (enc *encoder) pipelineCompleted(_ *protocol.Event, d *protocol.AggregateData) []frame {
	f := enc.aggregateFrame(pipelineCompleted, d, showPipeline)
	f.Content.(meta)["aggregate_output"] = resultOutput(d.Text)
	f.Meta["statistics"] = []meta{}
	return single(f)
}

// aggregateFrame encodes an event of the aggregation, with the plan and the results before it.
func (enc *encoder) aggregateFrame(event string, d *protocol.AggregateData, display string) frame {
	m := meta{"task_count": d.Tasks}.with("execution_time_ms", d.DurationMS)
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
	content := meta{
		"context": meta{
			"name": enc.state.Agent, "question": plan.Question, "tasks": foreignTasks(plan.Tasks),
			"plan_summary": plan.Summary, "raw_plan_output": "", "plan_statistics": []any{},
		},
		"solver_results": enc.solverResults(),
	}
	if event != aggregateStart {
		content["output"] = resultOutput(d.Text)
	} else {
		content.with("output", d.Text)
	}
	return frame{Step: null, Event: event, Content: content, Meta: m, Show: display}
}
