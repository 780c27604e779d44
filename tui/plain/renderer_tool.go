package plain

import (
	"encoding/json"
	"fmt"
	"slices"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	toolOutputLines = 5   // last lines of a tool's output that are written
	toolOutputWidth = 200 // cells
	toolTitleWidth  = 500 // cells
)

// runningTool is a tool call that has not ended.
type runningTool struct {
	id      string
	call    protocol.ToolItem
	nested  bool // in another call
	written bool // its start was written
	output  *transcript.Text
}

// appendInput appends text to the arguments, up to the size of an event.
func (t *runningTool) appendInput(text string) {
	if len(t.call.InputText)+len(text) <= protocol.MaxText {
		t.call.InputText = append(t.call.InputText, text...)
	}
}

// title returns the title of the call by what is known of it.
func (t *runningTool) title() string {
	title := describe.NewToolTitle(&t.call).String()
	if t.call.Name == "" && t.call.Title == "" && len(t.call.Input) == 0 {
		title = t.id
	}
	return ui.Fit(title, toolTitleWidth)
}

// runningTool returns a running tool call, which it creates if necessary.
func (r *renderer) runningTool(id string) *runningTool {
	if i := slices.IndexFunc(r.tools, func(t *runningTool) bool { return t.id == id }); i >= 0 {
		return r.tools[i]
	}
	tool := &runningTool{id: id, output: transcript.NewTerminalOutput()}
	r.tools = append(r.tools, tool)
	return tool
}

// writeCall writes the start of a tool call once.
func (r *renderer) writeCall(t *runningTool) {
	if !t.written {
		t.written = true
		r.flushParts()
		nested := ""
		if t.nested {
			nested = "nested "
		}
		r.linef("%stool %s%s", nested, t.title(), ui.Prefixed(", session ", t.call.Session))
	}
}

// writeCalls writes the starts of the tool calls that are not written yet.
func (r *renderer) writeCalls() {
	for _, t := range r.tools {
		r.writeCall(t)
	}
}

// writeTool writes the start of a tool call and, at its end, the last lines of its output. The
// start waits for the arguments, which may arrive after it; it does not wait longer than for the
// output, the end or an approval.
func (r *renderer) writeTool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		d := remote.DecodeData[protocol.ToolStartedData](e.Data)
		tool := r.runningTool(d.Tool)
		tool.call.Update(d)
		tool.nested = e.Parent != ""
		if len(tool.call.Input) > 0 || len(tool.call.Locations) > 0 {
			r.writeCall(tool)
		}
	case protocol.ToolInput:
		d := remote.DecodeData[protocol.ToolInputData](e.Data)
		tool := r.runningTool(d.Tool)
		tool.appendInput(d.Text)
		tool.call.Update(&protocol.ToolStartedData{Input: d.Input})
		if json.Valid(describe.ToolInput(&tool.call)) { // complete
			r.writeCall(tool)
		}
	case protocol.ToolOutput:
		d := remote.DecodeData[protocol.ToolOutputData](e.Data)
		tool := r.runningTool(d.Tool)
		r.writeCall(tool)
		if d.Replace {
			tool.output = transcript.NewTerminalOutput()
		}
		tool.output.Append(d.Text)
		for i := range d.Content {
			tool.output.Append(describe.Content(&d.Content[i]))
		}
	case protocol.ToolEnded:
		d := remote.DecodeData[protocol.ToolEndedData](e.Data)
		tool := r.runningTool(d.Tool)
		r.writeCall(tool)
		r.tools = slices.DeleteFunc(r.tools, func(t *runningTool) bool { return t == tool })
		r.writeToolEnd(tool, d)
	}
}

// writeToolEnd writes the last lines of the output of a call, and how it ended.
func (r *renderer) writeToolEnd(tool *runningTool, d *protocol.ToolEndedData) {
	tail, hidden := tool.output.Tail(toolOutputWidth, toolOutputLines)
	if hidden > 0 {
		tail = append([]string{fmt.Sprintf("(%s before)", format.Count(hidden, "line"))}, tail...)
	}
	for _, line := range tail {
		r.linef("  | %s", transcript.StripStyles(line))
	}
	exit := ""
	if d.ExitCode != nil && *d.ExitCode != 0 {
		exit = fmt.Sprintf(" with exit code %d", *d.ExitCode)
	}
	r.linef("tool %s: %s%s%s", tool.title(), d.Status, exit, ui.Prefixed(": ", d.Error))
}
