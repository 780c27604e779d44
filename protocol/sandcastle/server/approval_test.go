package server

import (
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
)

// SC-49: an approval without a tool call gets one, which ends with the approval.
func TestARequestOfItsOwnEndsAsATool(t *testing.T) {
	for outcome, want := range map[protocol.Outcome]string{
		protocol.Allowed: "tool-output-available", protocol.Denied: "tool-output-denied",
		protocol.Expired: "tool-output-error", protocol.Cancelled: "tool-output-error",
	} {
		d := newServerTest(t)
		d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
		d.StartTurn("t1", "Hello")
		d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{Tool: "k", Name: "Bash"})
		d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "of a tool", Kind: protocol.ApproveTool, Tool: "k",
		})
		d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "alone", Kind: protocol.ApproveCommand, Command: "ls",
		})
		d.Emit()
		d.Request(sandcastletest.AckFrame(0))
		for _, request := range []string{"of a tool", "alone"} {
			d.Append(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{Request: request, Outcome: outcome})
		}
		d.Emit()
		var ends []string
		for _, line := range d.Request(sandcastletest.AckFrame(0)) {
			for _, e := range sandcastletest.SessionEvents(t, []string{line}) {
				if c := string(e.Event); strings.Contains(c, `"tool-output`) {
					ends = append(ends, c)
				}
			}
		}
		if len(ends) != 1 || !strings.Contains(ends[0], want) || !strings.Contains(ends[0], `"toolCallId":"alone"`) {
			t.Errorf("%s: sent %s", outcome, ends)
		}
	}
}
