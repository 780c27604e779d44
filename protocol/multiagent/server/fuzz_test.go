package server

import (
	"bytes"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// FuzzServer delivers any lines to the server end.
func FuzzServer(f *testing.F) {
	for _, seed := range []string{
		`{"type":"PING"}`, `{"type":"start_conversation","payload":{"domainId":"d"}}`,
		`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}` + "\n" +
			`{"type":"cancel_stream","conversationId":"uuid"}`,
		`{"type":"APPROVE_TOOL","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`,
		`{"type":{},"payload":[]}`,
		`{"type":"send_message","conversationId":"alias","data":{"content":"x"}}`, "[[[[", "{\"type\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newServerTest(t, codec.ServerOptions{})
		h.StartTurn("t")
		h.Emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool"})
		for line := range bytes.Lines(data) {
			h.Receive(string(line))
		}
		size := 0
		for _, frame := range h.TakeSent() {
			size += len(frame)
		}
		if size > 1<<12+64*(len(data)+1) {
			t.Errorf("%d bytes in, %d out", len(data), size)
		}
		h.Receive(`{"type":"PING"}`)
		if got := h.TakeSent(); len(got) != 1 || got[0] != `{"type":"PONG"}` {
			t.Errorf("%v", got)
		}
	})
}
