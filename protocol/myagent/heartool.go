package myagent

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// toolID is the native id of a call: steps of a server that names no turns are unique within a turn only.
func (h *heard) toolID() string {
	step := clip(string(h.Step))
	if h.told && step != "" {
		return step
	}
	if step == "" && h.event == agentToolResult {
		if t := h.s.log.State.Turn; t != nil { // the last call of that tool
			for i := len(t.Tools) - 1; i >= 0; i-- {
				if t.Tools[i].Name == h.meta.str("tool", "name") {
					return t.Tools[i].Tool
				}
			}
		}
	}
	if step == "" {
		step = h.minted()
	}
	return step + "@" + h.turn()
}

// running reports whether a call is under way.
func (h *heard) running(tool string) bool {
	if t := h.s.log.State.Turn; t != nil {
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

func (h *heard) toolCall() {
	h.working()
	if h.s.text != "" { // what is said after it is another part
		h.endPart(protocol.TextEnd, h.s.text, 0)
		h.s.text = ""
	}
	args := h.meta["args"]
	if !h.meta.has("args") {
		args = h.meta["params"]
	}
	if len(args) > maxRaw || len(args) > 0 && args[0] == 'n' {
		args = nil
	}
	tool := h.toolID()
	if h.told && h.running(tool) && args != nil && h.meta.str("name", "kind", "title") == "" && !h.meta.has("locations") {
		h.add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Input: args})
		return
	}
	d := protocol.ToolStartedData{Tool: tool, Name: clip(h.meta.str("name")), Kind: clip(h.meta.str("kind")), Title: protocol.SplitText(h.meta.str("title"), maxTitle)[0], Input: args}
	if !h.told {
		d.Name, d.Title = clip(h.meta.str("tool", "tool_name", "name")), shorten(h.text())
	}
	h.meta.into("locations", &d.Locations)
	h.add(protocol.ToolStarted, d)
}

func (h *heard) toolResult() {
	h.working()
	tool := h.toolID()
	if !h.told && !h.running(tool) {
		h.add(protocol.ToolStarted, protocol.ToolStartedData{Tool: tool, Name: clip(h.meta.str("tool", "name"))})
	}
	if args := h.meta["args"]; len(args) > 0 {
		text := plain(args)
		if text == "" {
			text = string(args)
		}
		for _, piece := range protocol.SplitText(text, protocol.MaxText) {
			h.add(protocol.ToolInput, protocol.ToolInputData{Tool: tool, Text: piece})
		}
	}
	d := protocol.ToolEndedData{Tool: tool, Status: protocol.ToolCompleted, Error: h.meta.str("error"), DurationMS: h.ms()}
	if h.meta.str("status") != "success" && (h.meta.has("status") || d.Error != "") {
		d.Status = protocol.ToolFailed
	}
	switch outcome := protocol.ToolStatus(h.meta.str("outcome")); outcome {
	case protocol.ToolCancelled, protocol.ToolDenied, protocol.ToolUnknown:
		d.Status = outcome
		if d.Error == string(outcome) {
			d.Error = ""
		}
	}
	if h.meta.has("data") && len(h.meta["data"]) <= maxRaw {
		d.Output = h.meta["data"]
	}
	if h.meta.has("exit_code") {
		code := 0
		if h.meta.into("exit_code", &code) {
			d.ExitCode = &code
		}
	}
	out := protocol.ToolOutputData{Tool: tool}
	if h.meta.str("summary") != "true" {
		out.Text = h.text()
	}
	h.meta.into("content", &out.Content)
	h.output(out)
	d.Error = protocol.SplitText(d.Error, maxWords)[0]
	h.add(protocol.ToolEnded, d)
}

// output records a call's output, text in pieces that fit an event.
func (h *heard) output(out protocol.ToolOutputData) {
	if len(out.Content) > 0 {
		h.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: out.Tool, Content: out.Content})
	}
	for _, piece := range protocol.SplitText(out.Text, protocol.MaxText) {
		if piece != "" {
			h.add(protocol.ToolOutput, protocol.ToolOutputData{Tool: out.Tool, Text: piece})
		}
	}
}

// userConfirm asks for a decision, unless it is one of the past.
func (h *heard) userConfirm() {
	if h.meta.has("orig_seq") && !h.s.waits[string(h.Step)] { // of the past, and nobody waits for it
		h.raw()
		return
	}
	h.working()
	a := protocol.Approval{
		Request: clip(string(h.Step)), Kind: clip(h.meta.str("kind")), Title: protocol.SplitText(h.meta.str("title"), maxTitle)[0], Tool: clip(h.meta.str("tool_step")),
		Name: clip(h.meta.str("tool_name")), Command: h.meta.str("command"), CWD: h.meta.str("cwd"), Why: h.meta.str("why"), Patch: h.meta.str("patch"),
		Asked: h.at.UTC(),
	}
	if h.told {
		a.Request = strings.TrimPrefix(strings.TrimPrefix(a.Request, "confirm_"), "plan_")
	}
	if h.meta.str("scope") == "plan" {
		a.Kind, a.Tasks = protocol.ApprovePlan, nativeTasks(h.meta["tasks"])
		h.s.wholeIDs(h.meta["tasks"])
		if !h.told {
			a.Why = h.meta.str("plan_summary")
		}
	} else if !h.told {
		a.Kind = protocol.ApproveTool
	}
	if a.Title == "" {
		a.Title = shorten(h.text())
		if d := h.meta.str("tool_description"); a.Title == "" || d != "" && a.Name != "" {
			a.Title, a.Why = a.Name, d
		}
	}
	if h.meta.has("tool_args") && !h.meta.has("no_args") {
		a.Input = h.meta["tool_args"]
	}
	if h.told && a.Kind != protocol.ApprovePlan && a.Name == a.Kind {
		a.Name = ""
	}
	h.meta.into("editable", &a.Editable)
	h.meta.into("content", &a.Content)
	h.meta.into("paths", &a.Paths)
	h.meta.into("questions", &a.Questions)
	h.meta.into("expires", &a.Expires)
	h.meta.into("asked", &a.Asked)
	if !h.meta.into("options", &a.Options) || len(a.Options) == 0 {
		a.Options = []protocol.Option{
			{ID: string(protocol.AllowOnce), Kind: protocol.AllowOnce, Label: "Confirm"},
			{ID: string(protocol.Deny), Kind: protocol.Deny, Label: "Reject"},
			{ID: string(protocol.DenyStop), Kind: protocol.DenyStop, Label: "Reject and stop"},
		}
	}
	if a.Request == "" || h.s.log.State.PendingApproval(a.Request) != nil {
		return
	}
	if len(protocol.MustEncode(a)) > maxRaw {
		a.Input, a.Patch, a.Content = json.RawMessage(`"too large to be shown"`), "", nil
	}
	h.add(protocol.ApprovalRequested, a)
}
