package myagent

import (
	"encoding/json"
	"maps"
	"slices"

	"agentctl/protocol"
)

// maxOutput bounds the buffered output of a tool, in bytes, and separately its streamed input.
const maxOutput = 128 << 10

// A serverTool is an open tool call. The protocol has no streaming output, so the result carries
// it.
type serverTool struct {
	name     string
	argsSent bool // arguments were sent
	input    []byte
	output   []byte
	content  []protocol.Content
	bytes    int // size of content
	task     string
	parent   string
}

func (t *serverTurn) tool(e *protocol.Event, id string) *serverTool {
	if o := t.tools[id]; o != nil {
		return o
	}
	if t.tools == nil || len(t.tools) >= maxOpen {
		t.tools = map[string]*serverTool{}
	}
	o := &serverTool{task: e.Task, parent: e.Parent}
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

func (enc *encoder) toolStarted(e *protocol.Event, d *protocol.ToolStartedData) []frame {
	o := enc.tool(e, d.Tool)
	switch {
	case d.Name != "":
		o.name = d.Name
	case o.name == "" && d.Kind != "":
		o.name = d.Kind
	case o.name == "":
		o.name = "tool"
	}
	m := meta{"tool": o.name, "status": "running"}.with("kind", d.Kind).with("title", d.Title).with("name", d.Name)
	if len(d.Input) > 0 {
		m["args"], m["params"] = d.Input, d.Input
		o.argsSent = true
	} else {
		m["args"], m["no_args"] = meta{}, true
	}
	if len(d.Locations) > 0 {
		m["locations"] = d.Locations
	}
	text := d.Title
	if text == "" {
		text = o.name
	}
	return single(frame{
		Event: agentToolCall, Step: d.Tool, Content: text, Meta: m, Show: shorten(displayText.tool(text)),
	})
}

// toolInput sends complete arguments in a repeated tool call.
func (enc *encoder) toolInput(e *protocol.Event, d *protocol.ToolInputData) []frame {
	o := enc.tool(e, d.Tool)
	if d.Input == nil {
		o.input = appendBounded(o.input, d.Text)
		return nil
	}
	o.argsSent = true
	m := meta{"tool": o.name, "status": "running", "args": d.Input, "params": d.Input}
	return single(frame{
		Event: agentToolCall, Step: d.Tool, Content: o.name, Meta: m, Show: shorten(displayText.tool(o.name)),
	})
}

func (enc *encoder) toolOutput(e *protocol.Event, d *protocol.ToolOutputData) []frame {
	o := enc.tool(e, d.Tool)
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

func (enc *encoder) toolEnded(e *protocol.Event, d *protocol.ToolEndedData) []frame {
	o := enc.tool(e, d.Tool)
	delete(enc.tools, d.Tool)
	return single(o.result(d))
}

// result encodes the end of a tool call.
func (o *serverTool) result(d *protocol.ToolEndedData) frame {
	m := meta{"tool": o.name, "status": "failed", "error": nil}
	m.with("error", d.Error).with("execution_time_ms", d.DurationMS).with("data", d.Output)
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
		text = scalarText(d.Output)
	}
	if text == "" && len(d.Output) > 0 {
		text = shorten(string(d.Output))
	}
	return frame{
		Event: agentToolResult, Step: d.Tool, Content: text, Meta: m, Show: shorten(displayText.result(o.name)),
	}
}

// unfinishedTools encodes the output of calls that the turn's end cuts off.
func (enc *encoder) unfinishedTools() []frame {
	var frames []frame
	for _, id := range slices.Sorted(maps.Keys(enc.tools)) {
		o := enc.tools[id]
		if len(o.output) == 0 && len(o.content) == 0 {
			continue
		}
		f := o.result(&protocol.ToolEndedData{Tool: id, Status: protocol.ToolUnknown})
		if f.Meta.with("parent_id", o.parent); o.task != "" {
			f.Meta["task_id"] = taskID(o.task)
		}
		frames = append(frames, f)
	}
	return frames
}

// confirmFrame encodes an approval request.
func (enc *encoder) confirmFrame(a *protocol.Approval) frame {
	m := meta{"requires_confirmation": true, "kind": a.Kind, "title": a.Title, "options": a.Options}
	m.with("tool_step", a.Tool).with("tool_name", a.Name).with("command", a.Command).with("cwd", a.CWD)
	m.with("why", a.Why).with("patch", a.Patch).with("tool_args", a.Input)
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
	if a.Expires != nil {
		m["expires"] = *a.Expires
	}
	m["asked"] = a.Asked
	f := frame{
		Event: agentUserConfirm, Step: confirmStep(a), Content: a.Title, Meta: m, Show: shorten("请确认：" + a.Title),
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
				args := meta{}.with("command", a.Command).with("cwd", a.CWD).with("patch", a.Patch)
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
	m["scope"], m["tasks"], m["task_count"], m["plan_summary"] = "plan", foreignTasks(a.Tasks), len(a.Tasks), a.Title
	if enc.state.Plan != nil && enc.state.Plan.Summary != "" {
		m["plan_summary"] = enc.state.Plan.Summary
	}
	f.Content, f.Show = showConfirm(a.Tasks), showConfirm(a.Tasks)
	return f
}

// confirmStep returns the step_id of an approval's confirmation.
func confirmStep(a *protocol.Approval) string {
	if a.Kind == protocol.ApprovePlan {
		return "confirm_plan_" + a.Request
	}
	return "confirm_" + a.Request
}
