package sandcastle

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// SC-14: reasoning and text are distinct at both ends, while streaming and in history.
func TestReasoningIsNoText(t *testing.T) {
	d := newServerTest(t)
	d.append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.request(requestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.startTurn("t1", "Hello")
	d.append(protocol.ReasoningStart, "t1", protocol.PartStartData{Part: "p0"})
	d.append(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "p0", Text: "hm"})
	d.append(protocol.ReasoningEnd, "t1", protocol.PartEndData{Part: "p0"})
	d.appendText("t1", "p1", "Hi")
	d.append(protocol.UsageUpdated, "t1", protocol.Usage{Input: 1})
	d.endTurn("t1", protocol.ReasonCompleted)
	d.append(protocol.UsageUpdated, "", protocol.Usage{Input: 2}) // outside of a turn: not sent
	d.emit()
	const stream = "start reasoning-start reasoning-delta reasoning-end text-start text-delta text-end metadata-update finish"
	if got := eventTags(sessionEvents(t,
		d.request(ackFrame(0)))); got != "UserMessage SessionStarted "+stream+" SessionStopped" {
		t.Errorf("sent %s", got)
	}

	g := newClientTest(t, &codec.ClientState{})
	g.command(protocol.DoSubscribe, "", nil)
	g.receiveChunk(0, strings.ReplaceAll(idle, `"lastMessageId":null,"lastMessageAt":null`,
		`"lastMessageId":"a1","lastMessageAt":"2026-03-01T11:00:00.000Z"`))
	g.receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]},` +
		`{"id":"a1","role":"assistant","parts":[{"type":"reasoning","text":"hm","state":"done"},{"type":"text","text":"Hi"},{"type":"tool-T","toolCallId":"x","state":"output-available","output":1}]}]}}`)
	g.receiveChunk(0, turnOne, streamEventJSON("t1", `{"type":"reasoning-start","id":"p"}`),
		streamEventJSON("t1", `{"type":"reasoning-delta","id":"p","delta":"so"}`), streamEventJSON("t1",
			`{"type":"reasoning-end","id":"p"}`))
	if got := g.nativeTypes(); got != "message.user turn.started reasoning.start reasoning.delta reasoning.end" {
		t.Errorf("recorded %s", got)
	}
	history := fmt.Sprintf("%s",
		decodeResult[protocol.HistoryResult](*g.command(protocol.DoHistory, "", protocol.HistoryData{})).Events)
	for _, want := range []string{
		`"type":"reasoning.delta","data":{"part":"part0","text":"hm"}`,
		`"type":"text.delta","data":{"part":"part1","text":"Hi"}`, `"tool":"x"`,
	} {
		if !strings.Contains(history, want) {
			t.Errorf("no %s in %s", want, history)
		}
	}
	if strings.Contains(history, `"type":"raw"`) {
		t.Errorf("raw in %s", history)
	}
}

// SC-49: an approval without a tool call gets one, which ends with the approval.
func TestARequestOfItsOwnEndsAsATool(t *testing.T) {
	for outcome, want := range map[protocol.Outcome]string{
		protocol.Allowed: "tool-output-available", protocol.Denied: "tool-output-denied",
		protocol.Expired: "tool-output-error", protocol.Cancelled: "tool-output-error",
	} {
		d := newServerTest(t)
		d.append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.request(requestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
		d.startTurn("t1", "Hello")
		d.append(protocol.ToolStarted, "t1", protocol.ToolStartedData{Tool: "k", Name: "Bash"})
		d.append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "of a tool", Kind: protocol.ApproveTool, Tool: "k",
		})
		d.append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: "alone", Kind: protocol.ApproveCommand, Command: "ls",
		})
		d.emit()
		d.request(ackFrame(0))
		for _, request := range []string{"of a tool", "alone"} {
			d.append(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{Request: request, Outcome: outcome})
		}
		d.emit()
		var ends []string
		for _, line := range d.request(ackFrame(0)) {
			for _, e := range sessionEvents(t, []string{line}) {
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
