package server

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// encodeResolution ends the tool call that represents an approval, in the form of the real system's
// tools.
func (sub *subscription) encodeResolution(e *protocol.Event) {
	var d protocol.ApprovalResolvedData
	_ = e.Decode(&d)
	t := sub.turn.tools[d.Request]
	if t == nil || t.approval == nil {
		return
	}
	delete(sub.turn.tools, d.Request)
	sub.turn.bytes -= len(t.input)
	sub.sendChat(resolutionEvent(t.approval, &d))
	if t.approval.Kind == protocol.ApprovePlan && d.Outcome == protocol.Allowed && wire.ModeOf(sub.State) == wire.ModeBuild {
		sub.mode = wire.ModeBuild
		sub.sendTransientChat(wire.ChatEvent{Type: wire.ChatModeChange, Mode: wire.ModeBuild})
	}
}

// resolutionEvent returns the end of the call.
func resolutionEvent(a *protocol.Approval, d *protocol.ApprovalResolvedData) wire.ChatEvent {
	allowed := d.Outcome == protocol.Allowed
	output := wire.ChatEvent{Type: wire.ChatToolOutput, ToolCallID: d.Request, Dynamic: true}
	failed := func(why string) wire.ChatEvent {
		return wire.ChatEvent{Type: wire.ChatToolOutputError, ToolCallID: d.Request, ErrorText: &why, Dynamic: true}
	}
	switch {
	case !allowed && d.Outcome != protocol.Denied:
		return failed(string(d.Outcome))
	case a.Kind == protocol.ApprovePlan:
		output.Approval = &wire.ToolApproval{ID: d.Request, Approved: &allowed, Reason: d.Reason}
		output.Output = textOutput("the plan is approved")
		if !allowed {
			output.Output = textOutput(strings.TrimSuffix("the plan is rejected: "+d.Reason, ": "))
		}
		return output
	case a.Kind == protocol.ApproveQuestion && allowed:
		var input wire.PromptInput
		_ = json.Unmarshal(wire.ApprovalInput(a), &input)
		answered := struct {
			wire.PromptInput
			Answers map[string]json.RawMessage `json:"answers"`
		}{input, wire.AnswersOf(a, d.Input)}
		output.Output = textOutput(string(protocol.MustEncode(answered)))
		return output
	case a.Kind == protocol.ApproveQuestion:
		return failed("the questions were not answered")
	case allowed:
		output.Output = protocol.MustEncode(d.Outcome)
		return output
	}
	return wire.ChatEvent{Type: wire.ChatToolDenied, ToolCallID: d.Request}
}

func textOutput(text string) json.RawMessage {
	return protocol.MustEncode([]wire.TextBlock{{Type: "text", Text: text}})
}
