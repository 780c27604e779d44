package server

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
)

// SC-45: messages can share a frame or span several. A single message in a frame needs no newline.
func TestRequestsComeInAnyPackets(t *testing.T) {
	all := sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`) + sandcastletest.RequestFrame(1, "GetSessionState",
		`{"sessionId":"s"}`) + "{\"_tag\":\"Ping\"}\n" +
		sandcastletest.RequestFrame(2, "Interrupt", `{"sessionId":"s"}`) + "{\"_tag\":\"Eof\"}\n" + sandcastletest.RequestFrame(3, "nope", `{}`)
	const snapshot = `{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}`
	want := []string{
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":` + snapshot + `,"buffer":[]}]}`,
		`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":` + snapshot + `}}`,
		`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Success","value":{"interrupted":false}}}`,
		`{"_tag":"Exit","requestId":"3","exit":{"_tag":"Failure","cause":{"_tag":"Die","defect":"Unknown request tag: nope"}}}`, `{"_tag":"Pong"}`,
	}
	sizes := []int{1, 2, 3, 7, 50, 110, 300, len(all) - 1, len(all)}
	for _, size := range sizes {
		d := newServerTest(t)
		d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		var sent []string
		for rest := all; rest != ""; {
			n := min(size, len(rest))
			sent = append(sent, d.Request(rest[:n])...)
			rest = rest[n:]
		}
		slices.Sort(sent) // answers can overtake each other
		sandcastletest.WantLines(t, sent, want...)
		d.StartTurn("t1", "still here") // the stream continues
		d.Emit()
		if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t,
			d.Request(strings.TrimSuffix(sandcastletest.AckFrame(0), "\n")))); got != "UserMessage SessionStarted start" {
			t.Errorf("in frames of %d bytes the stream then sends %q", size, got)
		}
	}
}
