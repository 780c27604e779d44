package client

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// toolID returns the native id of a tool call. A server that does not name turns reuses step ids
// across turns.
func (dec *decoder) toolID(f *frame) string {
	step := clipID(string(f.Step))
	if f.namesTurns && step != "" {
		return step
	}
	if step == "" && f.event == wire.AgentToolResult {
		if tool := f.runningTool(f.meta.Str("tool", "name")); tool != "" {
			return tool
		}
	}
	if step == "" {
		step = dec.newPartID()
	}
	return step + "@" + f.turnID()
}

// runningTool returns the last open call of a tool, or "".
func (f *frame) runningTool(name string) string {
	if t := f.state.Turn; t != nil && name != "" {
		for _, open := range slices.Backward(t.Tools) {
			if open.Name == name {
				return open.Tool
			}
		}
	}
	return ""
}

// toolRunning reports whether a tool call is open.
func (f *frame) toolRunning(tool string) bool {
	if t := f.state.Turn; t != nil {
		for i := range t.Tools {
			if t.Tools[i].Tool == tool {
				return true
			}
		}
	}
	return false
}

// maxTitle bounds a title, in bytes.
const maxTitle = 4 << 10

func (dec *decoder) toolCall(f *frame) {
	dec.endText(f) // later text is another part
	args := f.meta["args"]
	if !f.meta.Has("args") {
		args = f.meta["params"]
	}
	if len(args) > maxRaw || len(args) > 0 && args[0] == 'n' || f.namesTurns && f.meta.Has("no_args") {
		args = nil
	}
	tool := dec.toolID(f)
	if f.namesTurns && f.toolRunning(tool) && args != nil && f.meta.Str("name", "kind", "title", "sub_agent_session") == "" &&
		!f.meta.Has("locations") {
		f.add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Input: args})
		return
	}
	d := protocol.ToolStartedData{
		Tool: tool, Name: clipID(f.meta.Str("name")), Kind: clipID(f.meta.Str("kind")),
		Title: protocol.SplitText(f.meta.Str("title"), maxTitle)[0], Input: args,
		Session: clipID(f.meta.Str("sub_agent_session")),
	}
	if !f.namesTurns {
		d.Name, d.Title = clipID(f.meta.Str("tool", "tool_name", "name")), wire.Shorten(f.text())
		if d.Title == "Calling tool: "+d.Name {
			d.Title = ""
		}
	}
	f.meta.Decode("locations", &d.Locations)
	f.add(protocol.ToolStarted, d)
}

func (dec *decoder) toolResult(f *frame) {
	if !f.namesTurns && f.state.Turn == nil {
		f.addRaw() // of a turn that was cancelled
		return
	}
	tool := dec.toolID(f)
	if !f.namesTurns && !f.toolRunning(tool) {
		f.add(protocol.ToolStarted, protocol.ToolStartedData{Tool: tool, Name: clipID(f.meta.Str("tool", "name"))})
	}
	if args := f.meta["args"]; len(args) > 0 {
		text := wire.Scalar(args)
		if text == "" {
			text = string(args)
		}
		for _, piece := range protocol.SplitText(text, protocol.MaxText) {
			f.add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Text: piece})
		}
	}
	d := protocol.ToolEndedData{
		Tool: tool, Status: protocol.ToolCompleted, Error: f.meta.Str("error"), DurationMS: f.executionMS(),
	}
	if f.meta.Str("status") != "success" && (f.meta.Has("status") || d.Error != "") {
		d.Status = protocol.ToolFailed
	}
	switch outcome := protocol.ToolStatus(f.meta.Str("outcome")); outcome {
	case protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
		d.Status = outcome
		if d.Error == string(outcome) {
			d.Error = ""
		}
	}
	if f.meta.Has("data") && len(f.meta["data"]) <= maxRaw {
		d.Output = f.meta["data"]
	}
	if f.meta.Has("exit_code") {
		code := 0
		if f.meta.Decode("exit_code", &code) {
			d.ExitCode = &code
		}
	}
	out := protocol.ToolOutputData{Tool: tool}
	if f.meta.Str("summary") != "true" {
		out.Text = f.text()
	}
	if !f.namesTurns && d.Status == protocol.ToolFailed {
		if out.Text == "None" || out.Text == "Tool execution failed: "+d.Error {
			out.Text = ""
		}
		if d.Error == deniedTool {
			d.Status, d.Error = protocol.ToolDenied, ""
		}
	}
	f.meta.Decode("content", &out.Content)
	f.recordOutput(out)
	d.Error = protocol.SplitText(d.Error, maxNoticeText)[0]
	f.add(protocol.ToolEnded, d)
}

// deniedTool is MyAgent's error of a tool whose confirmation was denied. Its content is None.
const deniedTool = "Tool execution cancelled by user"

// recordOutput records a tool's output. It splits text that exceeds an event.
func (f *frame) recordOutput(out protocol.ToolOutputData) {
	if len(out.Content) > 0 {
		f.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: out.Tool, Content: out.Content})
	}
	for _, piece := range protocol.SplitText(out.Text, protocol.MaxText) {
		if piece != "" {
			f.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: out.Tool, Text: piece})
		}
	}
}

// userConfirm requests an approval, unless the frame replays an answered one.
func (dec *decoder) userConfirm(f *frame) {
	if dec.answered(f) {
		f.addRaw()
		return
	}
	a := protocol.Approval{
		Request: clipID(string(f.Step)), Kind: clipID(f.meta.Str("kind")),
		Title: protocol.SplitText(f.meta.Str("title"), maxTitle)[0], Tool: clipID(f.meta.Str("tool_step")),
		Name: clipID(f.meta.Str("tool_name")), Command: f.meta.Str("command"), CWD: f.meta.Str("cwd"),
		Why: f.meta.Str("why"), Patch: f.meta.Str("patch"),
		Asked: f.at.UTC(),
	}
	if !f.namesTurns && a.Tool == "" {
		a.Tool = f.runningTool(a.Name)
	}
	if f.namesTurns {
		a.Request = strings.TrimPrefix(strings.TrimPrefix(a.Request, "confirm_"), "plan_")
	}
	if f.meta.Str("scope") == "plan" {
		a.Kind, a.Tasks = protocol.ApprovePlan, wire.NativeTasks(f.meta["tasks"])
		dec.noteNumericIDs(f.meta["tasks"])
		if !f.namesTurns {
			a.Why = f.meta.Str("plan_summary")
		}
	} else if !f.namesTurns {
		a.Kind = protocol.ApproveTool
	}
	if a.Title == "" {
		a.Title = wire.Shorten(f.text())
		if d := f.meta.Str("tool_description"); a.Title == "" || d != "" && a.Name != "" {
			a.Title, a.Why = a.Name, d
		}
	}
	if f.meta.Has("tool_args") && !f.meta.Has("no_args") {
		a.Input = f.meta["tool_args"]
	}
	if f.namesTurns && a.Kind != protocol.ApprovePlan && a.Name == a.Kind {
		a.Name = ""
	}
	f.meta.Decode("editable", &a.Editable)
	f.meta.Decode("content", &a.Content)
	f.meta.Decode("paths", &a.Paths)
	f.meta.Decode("questions", &a.Questions)
	f.meta.Decode("page", &a.Page)
	f.meta.Decode("sub_agent", &a.SubAgent)
	f.meta.Decode("expires", &a.Expires)
	f.meta.Decode("asked", &a.Asked)
	if !f.meta.Decode("options", &a.Options) || len(a.Options) == 0 {
		a.Options = []protocol.Option{
			{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: "Confirm"},
			{ID: string(protocol.Deny), Kind: protocol.Deny, Label: "Reject"},
			{ID: string(protocol.DenyStop), Kind: protocol.DenyStop, Label: "Reject and stop"},
		}
	}
	if a.Request == "" || f.state.PendingApproval(a.Request) != nil {
		return
	}
	if len(protocol.MustEncode(a)) > maxRaw {
		a.Input, a.Patch, a.Content = json.RawMessage(`"too large to be shown"`), "", nil
	}
	f.add(protocol.ApprovalRequested, a)
}
