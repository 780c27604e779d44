package sandcastle

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// SC-14: reasoning and text are told apart at both ends, as they stream and in history.
func TestReasoningIsNoText(t *testing.T) {
	d := newDoor(t)
	d.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.asks(call1(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.user("t1", "Hello")
	d.add(protocol.ReasoningStart, "t1", protocol.PartStartData{Part: "p0"})
	d.add(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "p0", Text: "hm"})
	d.add(protocol.ReasoningEnd, "t1", protocol.PartEndData{Part: "p0"})
	d.words("t1", "p1", "Hi")
	d.add(protocol.UsageUpdated, "t1", protocol.Usage{Input: 1})
	d.ends("t1", protocol.ReasonCompleted)
	d.add(protocol.UsageUpdated, "", protocol.Usage{Input: 2}) // no turn is there to tell it of
	d.happens()
	const stream = "start reasoning-start reasoning-delta reasoning-end text-start text-delta text-end metadata-update finish"
	if got := tags(events(t, d.asks(ack(0)))); got != "UserMessage SessionStarted "+stream+" SessionStopped" {
		t.Errorf("said %s", got)
	}

	g := newDesk(t, &codec.ClientState{})
	g.does(protocol.DoSubscribe, "", nil)
	g.chunk(0, strings.ReplaceAll(idle, `"lastMessageId":null,"lastMessageAt":null`, `"lastMessageId":"a1","lastMessageAt":"2026-03-01T11:00:00.000Z"`))
	g.says(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]},` +
		`{"id":"a1","role":"assistant","parts":[{"type":"reasoning","text":"hm","state":"done"},{"type":"text","text":"Hi"},{"type":"tool-T","toolCallId":"x","state":"output-available","output":1}]}]}}`)
	g.chunk(0, turnOne, chat("t1", `{"type":"reasoning-start","id":"p"}`), chat("t1", `{"type":"reasoning-delta","id":"p","delta":"so"}`), chat("t1", `{"type":"reasoning-end","id":"p"}`))
	if got := g.types(); got != "message.user turn.started reasoning.start reasoning.delta reasoning.end" {
		t.Errorf("took %s", got)
	}
	history := fmt.Sprintf("%s", result[protocol.HistoryResult](*g.does(protocol.DoHistory, "", protocol.HistoryData{})).Events)
	for _, want := range []string{`"type":"reasoning.delta","data":{"part":"part0","text":"hm"}`, `"type":"text.delta","data":{"part":"part1","text":"Hi"}`, `"tool":"x"`} {
		if !strings.Contains(history, want) {
			t.Errorf("no %s in %s", want, history)
		}
	}
	if strings.Contains(history, `"type":"raw"`) {
		t.Errorf("raw in %s", history)
	}
}

// SC-49: a request that no tool call stands for is one on their screens; what becomes of it is that call's end.
func TestARequestOfItsOwnEndsAsATool(t *testing.T) {
	for outcome, want := range map[protocol.Outcome]string{
		protocol.Allowed: "tool-output-available", protocol.Denied: "tool-output-denied", protocol.Expired: "tool-output-error", protocol.Cancelled: "tool-output-error",
	} {
		d := newDoor(t)
		d.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.asks(call1(0, "SubscribeSession", `{"sessionId":"s"}`))
		d.user("t1", "Hello")
		d.add(protocol.ToolStarted, "t1", protocol.ToolStartedData{Tool: "k", Name: "Bash"})
		d.add(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "of a tool", Kind: protocol.ApproveTool, Tool: "k"})
		d.add(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "alone", Kind: protocol.ApproveCommand, Command: "ls"})
		d.happens()
		d.asks(ack(0))
		for _, request := range []string{"of a tool", "alone"} {
			d.add(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{Request: request, Outcome: outcome})
		}
		d.happens()
		var ends []string
		for _, line := range d.asks(ack(0)) {
			for _, e := range events(t, []string{line}) {
				if c := string(e.Event); strings.Contains(c, `"tool-output`) {
					ends = append(ends, c)
				}
			}
		}
		if len(ends) != 1 || !strings.Contains(ends[0], want) || !strings.Contains(ends[0], `"toolCallId":"alone"`) {
			t.Errorf("%s: said %s", outcome, ends)
		}
	}
}
