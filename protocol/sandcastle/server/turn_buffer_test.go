package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// SC-25, SC-43: a late client of a turn beyond the buffer's bound gets its newest content whole,
// and no event without its start, which clients would reject.
func TestABufferThatIsFullStillBeginsWhatItGoesOnWith(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.StartTurn("t1", "go")
	d.Append(protocol.TextStart, "t1", protocol.PartStartData{Part: "p"})
	much := strings.Repeat("x", 100<<10)
	for i := range 60 {
		id := fmt.Sprint("x", i)
		d.Append(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p", Text: fmt.Sprint(i, much)})
		d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
			Tool: id, Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`),
		})
		d.Append(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: id, Text: much})
		d.Append(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted})
		d.Emit()
		d.Request(sandcastletest.AckFrame(0))
	}
	late := sandcastletest.SessionEvents(t, d.Request(sandcastletest.RequestFrame(1, "SubscribeSession", `{"sessionId":"s"}`)))[0].Buffer
	size, started, outputs, lastDelta := 0, map[string]bool{}, 0, ""
	for i, raw := range late {
		size += len(raw)
		var e wire.ChatEvent
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case wire.ChatStart:
			if i != 0 {
				t.Errorf("start is number %d", i)
			}
		case wire.ChatTextStart, wire.ChatToolInputStart:
			started[e.ID+e.ToolCallID] = true
		case wire.ChatTextDelta:
			lastDelta = (*e.Delta)[:2]
			fallthrough
		default:
			if !started[e.ID+e.ToolCallID] {
				t.Fatalf("%s of %s without a beginning", e.Type, e.ID+e.ToolCallID)
			}
		}
		if e.Type == wire.ChatToolOutput && !e.Preliminary {
			outputs++
		}
	}
	if size > maxBuffer || size < maxBuffer/2 || outputs != 60 || lastDelta != "59" {
		t.Errorf("%d bytes, %d outputs, the last delta is %q", size, outputs, lastDelta)
	}
}
