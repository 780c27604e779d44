package sandcastle

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/protocol"
)

// SC-25, SC-43: a late client of a turn beyond the buffer's bound gets its newest content whole,
// and no event without its start, which clients would reject.
func TestABufferThatIsFullStillBeginsWhatItGoesOnWith(t *testing.T) {
	d := newServerTest(t)
	d.append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.request(requestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.startTurn("t1", "go")
	d.append(protocol.TextStart, "t1", protocol.PartStartData{Part: "p"})
	much := strings.Repeat("x", 100<<10)
	for i := range 60 {
		id := fmt.Sprint("x", i)
		d.append(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p", Text: fmt.Sprint(i, much)})
		d.append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
			Tool: id, Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`),
		})
		d.append(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: id, Text: much})
		d.append(protocol.ToolEnded, "t1", protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted})
		d.emit()
		d.request(ackFrame(0))
	}
	late := sessionEvents(t, d.request(requestFrame(1, "SubscribeSession", `{"sessionId":"s"}`)))[0].Buffer
	size, started, outputs, lastDelta := 0, map[string]bool{}, 0, ""
	for i, raw := range late {
		size += len(raw)
		var e chatEvent
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case chatStart:
			if i != 0 {
				t.Errorf("start is number %d", i)
			}
		case chatTextStart, chatToolInputStart:
			started[e.ID+e.ToolCallID] = true
		case chatTextDelta:
			lastDelta = (*e.Delta)[:2]
			fallthrough
		default:
			if !started[e.ID+e.ToolCallID] {
				t.Fatalf("%s of %s without a beginning", e.Type, e.ID+e.ToolCallID)
			}
		}
		if e.Type == chatToolOutput && !e.Preliminary {
			outputs++
		}
	}
	if size > maxBuffer || size < maxBuffer/2 || outputs != 60 || lastDelta != "59" {
		t.Errorf("%d bytes, %d outputs, the last delta is %q", size, outputs, lastDelta)
	}
}
