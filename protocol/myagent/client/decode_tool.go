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
func (h *frameHandler) toolID() string {
	step := clipID(string(h.Step))
	if h.namesTurns && step != "" {
		return step
	}
	if step == "" && h.event == wire.AgentToolResult {
		if tool := h.runningTool(h.meta.Str("tool", "name")); tool != "" {
			return tool
		}
	}
	if step == "" {
		step = h.newPartID()
	}
	return step + "@" + h.turnID()
}

// runningTool returns the last open call of a tool, or "".
func (h *frameHandler) runningTool(name string) string {
	if t := h.session.log.State.Turn; t != nil && name != "" {
		for _, open := range slices.Backward(t.Tools) {
			if open.Name == name {
				return open.Tool
			}
		}
	}
	return ""
}

// toolRunning reports whether a tool call is open.
func (h *frameHandler) toolRunning(tool string) bool {
	if t := h.session.log.State.Turn; t != nil {
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

func (h *frameHandler) toolCall() {
	h.ensureTurn()
	h.endText() // later text is another part
	args := h.meta["args"]
	if !h.meta.Has("args") {
		args = h.meta["params"]
	}
	if len(args) > maxRaw || len(args) > 0 && args[0] == 'n' || h.namesTurns && h.meta.Has("no_args") {
		args = nil
	}
	tool := h.toolID()
	if h.namesTurns && h.toolRunning(tool) && args != nil && h.meta.Str("name", "kind", "title") == "" &&
		!h.meta.Has("locations") {
		h.record(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Input: args})
		return
	}
	d := protocol.ToolStartedData{
		Tool: tool, Name: clipID(h.meta.Str("name")), Kind: clipID(h.meta.Str("kind")),
		Title: protocol.SplitText(h.meta.Str("title"), maxTitle)[0], Input: args,
	}
	if !h.namesTurns {
		d.Name, d.Title = clipID(h.meta.Str("tool", "tool_name", "name")), wire.Shorten(h.text())
		if d.Title == "Calling tool: "+d.Name {
			d.Title = ""
		}
	}
	h.meta.Decode("locations", &d.Locations)
	h.record(protocol.ToolStarted, d)
}

func (h *frameHandler) toolResult() {
	if !h.namesTurns && h.session.log.State.Turn == nil {
		h.recordRaw() // of a turn that was cancelled
		return
	}
	tool := h.toolID()
	if !h.namesTurns && !h.toolRunning(tool) {
		h.record(protocol.ToolStarted, protocol.ToolStartedData{Tool: tool, Name: clipID(h.meta.Str("tool", "name"))})
	}
	if args := h.meta["args"]; len(args) > 0 {
		text := wire.Scalar(args)
		if text == "" {
			text = string(args)
		}
		for _, piece := range protocol.SplitText(text, protocol.MaxText) {
			h.record(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Text: piece})
		}
	}
	d := protocol.ToolEndedData{
		Tool: tool, Status: protocol.ToolCompleted, Error: h.meta.Str("error"), DurationMS: h.executionMS(),
	}
	if h.meta.Str("status") != "success" && (h.meta.Has("status") || d.Error != "") {
		d.Status = protocol.ToolFailed
	}
	switch outcome := protocol.ToolStatus(h.meta.Str("outcome")); outcome {
	case protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
		d.Status = outcome
		if d.Error == string(outcome) {
			d.Error = ""
		}
	}
	if h.meta.Has("data") && len(h.meta["data"]) <= maxRaw {
		d.Output = h.meta["data"]
	}
	if h.meta.Has("exit_code") {
		code := 0
		if h.meta.Decode("exit_code", &code) {
			d.ExitCode = &code
		}
	}
	out := protocol.ToolOutputData{Tool: tool}
	if h.meta.Str("summary") != "true" {
		out.Text = h.text()
	}
	if !h.namesTurns && d.Status == protocol.ToolFailed {
		if out.Text == "None" || out.Text == "Tool execution failed: "+d.Error {
			out.Text = ""
		}
		if d.Error == deniedTool {
			d.Status, d.Error = protocol.ToolDenied, ""
		}
	}
	h.meta.Decode("content", &out.Content)
	h.recordOutput(out)
	d.Error = protocol.SplitText(d.Error, maxNoticeText)[0]
	h.record(protocol.ToolEnded, d)
}

// deniedTool is MyAgent's error of a tool whose confirmation was denied. Its content is None.
const deniedTool = "Tool execution cancelled by user"

// recordOutput records a tool's output. It splits text that exceeds an event.
func (h *frameHandler) recordOutput(out protocol.ToolOutputData) {
	if len(out.Content) > 0 {
		h.record(protocol.ToolOutput, protocol.ToolOutputData{Tool: out.Tool, Content: out.Content})
	}
	for _, piece := range protocol.SplitText(out.Text, protocol.MaxText) {
		if piece != "" {
			h.record(protocol.ToolOutput, protocol.ToolOutputData{Tool: out.Tool, Text: piece})
		}
	}
}

// userConfirm requests an approval, unless the frame replays an answered one.
func (h *frameHandler) userConfirm() {
	// replayed, and no longer pending
	if h.meta.Has("orig_seq") && !h.session.pendingSteps[string(h.Step)] {
		h.recordRaw()
		return
	}
	h.ensureTurn()
	a := protocol.Approval{
		Request: clipID(string(h.Step)), Kind: clipID(h.meta.Str("kind")),
		Title: protocol.SplitText(h.meta.Str("title"), maxTitle)[0], Tool: clipID(h.meta.Str("tool_step")),
		Name: clipID(h.meta.Str("tool_name")), Command: h.meta.Str("command"), CWD: h.meta.Str("cwd"),
		Why: h.meta.Str("why"), Patch: h.meta.Str("patch"),
		Asked: h.at.UTC(),
	}
	if !h.namesTurns && a.Tool == "" {
		a.Tool = h.runningTool(a.Name)
	}
	if h.namesTurns {
		a.Request = strings.TrimPrefix(strings.TrimPrefix(a.Request, "confirm_"), "plan_")
	}
	if h.meta.Str("scope") == "plan" {
		a.Kind, a.Tasks = protocol.ApprovePlan, wire.NativeTasks(h.meta["tasks"])
		h.session.noteNumericIDs(h.meta["tasks"])
		if !h.namesTurns {
			a.Why = h.meta.Str("plan_summary")
		}
	} else if !h.namesTurns {
		a.Kind = protocol.ApproveTool
	}
	if a.Title == "" {
		a.Title = wire.Shorten(h.text())
		if d := h.meta.Str("tool_description"); a.Title == "" || d != "" && a.Name != "" {
			a.Title, a.Why = a.Name, d
		}
	}
	if h.meta.Has("tool_args") && !h.meta.Has("no_args") {
		a.Input = h.meta["tool_args"]
	}
	if h.namesTurns && a.Kind != protocol.ApprovePlan && a.Name == a.Kind {
		a.Name = ""
	}
	h.meta.Decode("editable", &a.Editable)
	h.meta.Decode("content", &a.Content)
	h.meta.Decode("paths", &a.Paths)
	h.meta.Decode("questions", &a.Questions)
	h.meta.Decode("expires", &a.Expires)
	h.meta.Decode("asked", &a.Asked)
	if !h.meta.Decode("options", &a.Options) || len(a.Options) == 0 {
		a.Options = []protocol.Option{
			{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: "Confirm"},
			{ID: string(protocol.Deny), Kind: protocol.Deny, Label: "Reject"},
			{ID: string(protocol.DenyStop), Kind: protocol.DenyStop, Label: "Reject and stop"},
		}
	}
	if a.Request == "" || h.session.log.State.PendingApproval(a.Request) != nil {
		return
	}
	if len(protocol.MustEncode(a)) > maxRaw {
		a.Input, a.Patch, a.Content = json.RawMessage(`"too large to be shown"`), "", nil
	}
	h.record(protocol.ApprovalRequested, a)
}
