package multiagent

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
		h.startTurn("t")
		h.emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool"})
		for line := range bytes.Lines(data) {
			h.receive(string(line))
		}
		size := 0
		for _, frame := range h.takeSent() {
			size += len(frame)
		}
		if size > 1<<12+64*(len(data)+1) {
			t.Errorf("%d bytes in, %d out", len(data), size)
		}
		h.receive(`{"type":"PING"}`)
		if got := h.takeSent(); len(got) != 1 || got[0] != `{"type":"PONG"}` {
			t.Errorf("%v", got)
		}
	})
}

// FuzzClient delivers any frames to the client end.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		chunkExample, completeExample, askExample, executedExample, errorExample, `{"type":"PONG"}`,
		`{"type":"conversation_started","payload":{"conversationId":"uuid"}}`, errorMessage(cancelled),
		errorMessage(rejected), errorMessage(streamError),
		`{"type":"agent_selected","conversationId":"uuid","agent_name":"b"}`, `{"type":"error","error":"x"}`, "[1",
		"{\"type\":\"\xff\"}",
		`{"type":"workflow_thought","conversationId":"uuid","data":{"reason":"x"}}`,
	} {
		f.Add([]byte(compactJSON(seed)))
		f.Add([]byte(compactJSON(seed) + "\n" + compactJSON(askExample) + "\n" + compactJSON(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newClientTest(t, nil)
		c.subscribe()
		create := c.command(protocol.DoCreate, "", protocol.CreateData{Prompt: "x"})
		send := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
		stop := ""
		for line := range bytes.Lines(data) {
			c.receive(string(bytes.TrimSuffix(line, []byte("\n"))))
			if c.state.PendingApproval("uuid") != nil {
				c.command(protocol.DoApprove, "uuid", protocol.ApproveData{
					Request: "uuid", Decision: protocol.AllowOnce,
				})
			}
			stop = c.command(protocol.DoInterrupt, "uuid", nil)
		}
		for !c.wake.IsZero() {
			c.advance()
		}
		for _, id := range []string{create, send, stop} {
			if id != "" && c.answers[id] == nil {
				t.Errorf("command %s has no answer", id)
			}
		}
		if c.state.Seq > uint64(len(c.events)) {
			t.Errorf("seq %d after %d events", c.state.Seq, len(c.events))
		}
	})
}
