package server

import (
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
)

// SC-7, SC-8: the snapshot of a session with a past, a running turn and a queued message with
// parts.
func TestASnapshotHasEveryField(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	first := protocol.Message{MessageID: "msg_1", Text: "Hello"}
	second := protocol.Message{MessageID: "msg_2", Text: "More"}
	d.Append(protocol.MessageUser, "turn_1", protocol.MessageUserData{Message: first})
	d.Append(protocol.TurnStarted, "turn_1", protocol.TurnStartedData{MessageID: "msg_1"})
	d.EndTurn("turn_1", protocol.ReasonCompleted)
	d.Append(protocol.MessageUser, "turn_2", protocol.MessageUserData{Message: second})
	d.Append(protocol.TurnStarted, "turn_2", protocol.TurnStartedData{MessageID: "msg_2"})
	at := sandcastletest.Noon
	d.Append(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{
		MessageID: "msg_3", Text: "next", QueuedAt: &at, ClientMessageID: "temp_3",
		Parts: []protocol.Part{{Type: "file", URL: "file:///a", MediaType: "text/plain"}},
	}})
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(0, "GetSessionState", `{"sessionId":"s"}`)),
		`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success","value":`+
			`{"status":"streaming","activeTurnId":"turn_2","queue":[{"id":"msg_3","content":"next",`+
			`"parts":[{"type":"text","text":"next"},{"type":"file","mediaType":"text/plain","url":"file:///a"}],`+
			`"queuedAt":"2026-03-01T12:00:00.000Z","clientMessageId":"temp_3"}],`+
			`"historyCursor":{"lastMessageId":"turn_1","lastMessageAt":"2026-03-01T12:00:03.000Z"}}}}`)
}
