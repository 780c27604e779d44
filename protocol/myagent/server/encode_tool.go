package server

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// maxOutput bounds the buffered output of a tool, in bytes, and separately its streamed input.
const maxOutput = 128 << 10

// A tool is an open tool call. The protocol has no streaming output, so the result carries
// it.
type tool struct {
	name     string
	argsSent bool // arguments were sent
	input    []byte
	output   []byte
	content  []protocol.Content
	bytes    int // size of content
	task     string
	parent   string
}

func (t *turn) tool(e *protocol.Event, id string) *tool {
	if o := t.tools[id]; o != nil {
		return o
	}
	if t.tools == nil || len(t.tools) >= maxOpen {
		t.tools = map[string]*tool{}
	}
	o := &tool{task: e.Task, parent: e.Parent}
	t.tools[id] = o
	return o
}

// appendBounded appends text up to maxOutput.
func appendBounded(dst []byte, text string) []byte {
	if room := maxOutput - len(dst); len(text) > room {
		if room < 4 {
			return dst
		}
		text = protocol.SplitText(text, room)[0]
	}
	return append(dst, text...)
}

func (t *turn) toolStarted(e *protocol.Event, d *protocol.ToolStartedData) []wire.Frame {
	o := t.tool(e, d.Tool)
	switch {
	case d.Name != "":
		o.name = d.Name
	case o.name == "" && d.Kind != "":
		o.name = d.Kind
	case o.name == "":
		o.name = "tool"
	}
	m := wire.Meta{"tool": o.name, "status": "running"}.With("kind", d.Kind).With("title", d.Title).With("name", d.Name)
	m.With("sub_agent_session", d.Session)
	if len(d.Input) > 0 {
		m["args"], m["params"] = d.Input, d.Input
		o.argsSent = true
	} else {
		m["args"], m["no_args"] = wire.Meta{}, true
	}
	if len(d.Locations) > 0 {
		m["locations"] = d.Locations
	}
	text := d.Title
	if text == "" {
		text = o.name
	}
	return single(wire.Frame{
		Event: wire.AgentToolCall, Step: d.Tool, Content: text, Meta: m, Show: wire.Shorten(displayText.tool(text)),
	})
}

// toolInput sends complete arguments in a repeated tool call.
func (t *turn) toolInput(e *protocol.Event, d *protocol.ToolInputData) []wire.Frame {
	o := t.tool(e, d.Tool)
	if d.Input == nil {
		o.input = appendBounded(o.input, d.Text)
		return nil
	}
	o.argsSent = true
	m := wire.Meta{"tool": o.name, "status": "running", "args": d.Input, "params": d.Input}
	return single(wire.Frame{
		Event: wire.AgentToolCall, Step: d.Tool, Content: o.name, Meta: m, Show: wire.Shorten(displayText.tool(o.name)),
	})
}

func (t *turn) toolOutput(e *protocol.Event, d *protocol.ToolOutputData) []wire.Frame {
	o := t.tool(e, d.Tool)
	if d.Replace {
		o.output, o.content, o.bytes = nil, nil, 0
	}
	o.output = appendBounded(o.output, d.Text)
	for _, c := range d.Content {
		size := len(protocol.MustEncode(c))
		if o.bytes+size <= maxOutput {
			o.content = append(o.content, c)
			o.bytes += size
		}
	}
	return nil
}

func (t *turn) toolEnded(e *protocol.Event, d *protocol.ToolEndedData) []wire.Frame {
	o := t.tool(e, d.Tool)
	delete(t.tools, d.Tool)
	return single(o.result(d))
}

// result encodes the end of a tool call.
func (o *tool) result(d *protocol.ToolEndedData) wire.Frame {
	m := wire.Meta{"tool": o.name, "status": "failed", "error": nil}
	m.With("error", d.Error).With("execution_time_ms", d.DurationMS).With("data", d.Output)
	switch d.Status {
	case protocol.ToolCompleted:
		m["status"] = "success"
	case protocol.ToolFailed:
	default:
		m["outcome"] = string(d.Status)
		if d.Error == "" {
			m["error"] = string(d.Status)
		}
	}
	if d.ExitCode != nil {
		m["exit_code"] = *d.ExitCode
	}
	if len(o.content) > 0 {
		m["content"] = o.content
	}
	if !o.argsSent && len(o.input) > 0 {
		if args, ok := protocol.Compact(o.input); ok {
			m["args"] = args
		} else {
			m["args"] = string(o.input)
		}
	}
	text := string(o.output)
	if text == "" {
		m["summary"] = true // the content is not the tool's output
		text = d.Error
	}
	if text == "" {
		text = wire.Scalar(d.Output)
	}
	if text == "" && len(d.Output) > 0 {
		text = wire.Shorten(string(d.Output))
	}
	return wire.Frame{
		Event: wire.AgentToolResult, Step: d.Tool, Content: text, Meta: m, Show: wire.Shorten(displayText.result(o.name)),
	}
}

// unfinishedTools encodes the output of calls that the turn's end cuts off.
func (t *turn) unfinishedTools() []wire.Frame {
	var frames []wire.Frame
	for _, id := range slices.Sorted(maps.Keys(t.tools)) {
		o := t.tools[id]
		if len(o.output) == 0 && len(o.content) == 0 {
			continue
		}
		f := o.result(&protocol.ToolEndedData{Tool: id, Status: protocol.ToolUnknown})
		if f.Meta.With("parent_id", o.parent); o.task != "" {
			f.Meta["task_id"] = wire.TaskID(o.task)
		}
		frames = append(frames, f)
	}
	return frames
}

// confirmFrame encodes an approval request.
func (enc *encoder) confirmFrame(a *protocol.Approval) wire.Frame {
	m := wire.Meta{"requires_confirmation": true, "kind": a.Kind, "title": a.Title, "options": a.Options}
	m.With("tool_step", a.Tool).With("tool_name", a.Name).With("command", a.Command).With("cwd", a.CWD)
	m.With("why", a.Why).With("patch", a.Patch).With("tool_args", a.Input)
	if a.Editable {
		m["editable"] = true
	}
	if len(a.Content) > 0 {
		m["content"] = a.Content
	}
	if len(a.Paths) > 0 {
		m["paths"] = a.Paths
	}
	if len(a.Questions) > 0 {
		m["questions"] = a.Questions
	}
	if a.Page != nil {
		m["page"] = a.Page
	}
	if a.SubAgent != nil {
		m["sub_agent"] = a.SubAgent
	}
	if a.Expires != nil {
		m["expires"] = *a.Expires
	}
	m["asked"] = a.Asked
	f := wire.Frame{
		Event: wire.AgentUserConfirm, Step: wire.ConfirmStep(a), Content: a.Title, Meta: m, Show: wire.Shorten("请确认：" + a.Title),
	}
	if a.Kind != protocol.ApprovePlan {
		m["tool_description"] = a.Title
		if a.Why != "" {
			m["tool_description"] = a.Why
		}
		if a.Name == "" {
			m["tool_name"] = a.Kind
		}
		if len(a.Input) == 0 {
			m["tool_args"] = json.RawMessage("{}")
			if a.Command != "" || a.Patch != "" || len(a.Content)+len(a.Paths) > 0 {
				args := wire.Meta{}.With("command", a.Command).With("cwd", a.CWD).With("patch", a.Patch)
				for _, name := range []string{"content", "paths"} {
					if m[name] != nil {
						args[name] = m[name]
					}
				}
				m["tool_args"] = args
			}
			m["no_args"] = true
		}
		return f
	}
	m["scope"], m["tasks"], m["task_count"], m["plan_summary"] = "plan", wire.ForeignTasks(a.Tasks), len(a.Tasks), a.Title
	if enc.state.Plan != nil && enc.state.Plan.Summary != "" {
		m["plan_summary"] = enc.state.Plan.Summary
	}
	f.Content, f.Show = showConfirm(a.Tasks), showConfirm(a.Tasks)
	return f
}
