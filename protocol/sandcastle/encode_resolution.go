package sandcastle

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
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
	if t.approval.Kind == protocol.ApprovePlan && d.Outcome == protocol.Allowed && modeOf(sub.State) == modeBuild {
		sub.mode = modeBuild
		sub.sendTransientChat(chatEvent{Type: chatModeChange, Mode: modeBuild})
	}
}

// resolutionEvent returns the end of the call.
func resolutionEvent(a *protocol.Approval, d *protocol.ApprovalResolvedData) chatEvent {
	allowed := d.Outcome == protocol.Allowed
	output := chatEvent{Type: chatToolOutput, ToolCallID: d.Request, Dynamic: true}
	failed := func(why string) chatEvent {
		return chatEvent{Type: chatToolOutputError, ToolCallID: d.Request, ErrorText: &why, Dynamic: true}
	}
	switch {
	case !allowed && d.Outcome != protocol.Denied:
		return failed(string(d.Outcome))
	case a.Kind == protocol.ApprovePlan:
		output.Approval = &toolApproval{ID: d.Request, Approved: &allowed, Reason: d.Reason}
		output.Output = textOutput("the plan is approved")
		if !allowed {
			output.Output = textOutput(strings.TrimSuffix("the plan is rejected: "+d.Reason, ": "))
		}
		return output
	case a.Kind == protocol.ApproveQuestion && allowed:
		var input promptInput
		_ = json.Unmarshal(approvalInput(a), &input)
		answered := struct {
			promptInput
			Answers map[string]json.RawMessage `json:"answers"`
		}{input, answersOf(a, d.Input)}
		output.Output = textOutput(string(protocol.MustEncode(answered)))
		return output
	case a.Kind == protocol.ApproveQuestion:
		return failed("the questions were not answered")
	case allowed:
		output.Output = protocol.MustEncode(d.Outcome)
		return output
	}
	return chatEvent{Type: chatToolDenied, ToolCallID: d.Request}
}

// A textBlock is the text of an output that is a list of blocks.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textOutput(text string) json.RawMessage { return protocol.MustEncode([]textBlock{{"text", text}}) }
