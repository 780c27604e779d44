package server

import (
	"bytes"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// FuzzServer delivers any lines to the server end, each as a message. What it sends is bounded by the
// messages and their bytes: an error answers a message that is not valid, also an empty one.
func FuzzServer(f *testing.F) {
	for _, seed := range []string{
		`{"type":"PING"}`, `{"type":"start_conversation","payload":{"domainId":"d"}}`,
		`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}` + "\n" +
			`{"type":"cancel_stream","conversationId":"uuid"}`,
		`{"type":"APPROVE_TOOL","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`,
		`{"type":{},"payload":[]}`,
		`{"type":"send_message","conversationId":"alias","data":{"content":"x"}}`, "[[[[", "{\"type\":\"\xff\"}",
		strings.Repeat("\n", 200),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newServerTest(t, codec.ServerOptions{})
		h.StartTurn("t")
		h.Emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool"})
		size, messages := 0, 0
		for line := range bytes.Lines(data) {
			h.Receive(string(line))
			messages++
		}
		for _, frame := range h.TakeSent() {
			size += len(frame)
		}
		if size > 1<<12+256*messages+64*len(data) {
			t.Errorf("%d messages of %d bytes in, %d bytes out", messages, len(data), size)
		}
		h.Receive(`{"type":"PING"}`)
		if got := h.TakeSent(); len(got) != 1 || got[0] != `{"type":"PONG"}` {
			t.Errorf("%v", got)
		}
	})
}
