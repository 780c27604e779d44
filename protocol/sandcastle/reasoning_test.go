package sandcastle

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// SC-14: reasoning and text are distinct at both ends, while streaming and in history.
func TestReasoningIsNoText(t *testing.T) {
	d := sandcastletest.NewServer(t, Dialect.Server)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.StartTurn("t1", "Hello")
	d.Append(protocol.ReasoningStart, "t1", protocol.PartStartData{Part: "p0"})
	d.Append(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "p0", Text: "hm"})
	d.Append(protocol.ReasoningEnd, "t1", protocol.PartEndData{Part: "p0"})
	d.AppendText("t1", "p1", "Hi")
	d.Append(protocol.UsageUpdated, "t1", protocol.Usage{Input: 1})
	d.EndTurn("t1", protocol.ReasonCompleted)
	d.Append(protocol.UsageUpdated, "", protocol.Usage{Input: 2}) // outside of a turn: not sent
	d.Emit()
	const stream = "start reasoning-start reasoning-delta reasoning-end text-start text-delta text-end metadata-update finish"
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t,
		d.Request(sandcastletest.AckFrame(0)))); got != "UserMessage SessionStarted "+stream+" SessionStopped" {
		t.Errorf("sent %s", got)
	}

	g := sandcastletest.NewClient(t, Dialect.Client, &codec.ClientState{})
	g.Command(protocol.DoSubscribe, "", nil)
	g.ReceiveChunk(0, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null,"lastMessageAt":null`,
		`"lastMessageId":"a1","lastMessageAt":"2026-03-01T11:00:00.000Z"`))
	g.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]},` +
		`{"id":"a1","role":"assistant","parts":[{"type":"reasoning","text":"hm","state":"done"},{"type":"text","text":"Hi"},{"type":"tool-T","toolCallId":"x","state":"output-available","output":1}]}]}}`)
	g.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", `{"type":"reasoning-start","id":"p"}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"reasoning-delta","id":"p","delta":"so"}`), sandcastletest.StreamEventJSON("t1",
			`{"type":"reasoning-end","id":"p"}`))
	if got := g.NativeTypes(); got != "message.user turn.started reasoning.start reasoning.delta reasoning.end" {
		t.Errorf("recorded %s", got)
	}
	history := fmt.Sprintf("%s",
		sandcastletest.DecodeResult[protocol.HistoryResult](*g.Command(protocol.DoHistory, "", protocol.HistoryData{})).Events)
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
