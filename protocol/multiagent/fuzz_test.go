package multiagent

import (
	"bytes"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// FuzzServer gives our server's end lines of any foreign client.
func FuzzServer(f *testing.F) {
	for _, seed := range []string{
		`{"type":"PING"}`, `{"type":"start_conversation","payload":{"domainId":"d"}}`,
		`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}` + "\n" + `{"type":"cancel_stream","conversationId":"uuid"}`,
		`{"type":"APPROVE_TOOL","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`, `{"type":{},"payload":[]}`,
		`{"type":"send_message","conversationId":"alias","data":{"content":"x"}}`, "[[[[", "{\"type\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		h := newHost(t, codec.ServerOptions{})
		h.turn("t")
		h.happens(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool"})
		for line := range bytes.Lines(data) {
			h.says(string(line))
		}
		size := 0
		for _, frame := range h.takes() {
			size += len(frame)
		}
		if size > 1<<12+64*(len(data)+1) {
			t.Errorf("%d bytes in, %d out", len(data), size)
		}
		h.says(`{"type":"PING"}`)
		if got := h.takes(); len(got) != 1 || got[0] != `{"type":"PONG"}` {
			t.Errorf("%v", got)
		}
	})
}

// FuzzClient gives our client's end frames of any foreign server.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		chunkExample, completeExample, askExample, executedExample, errorExample, `{"type":"PONG"}`,
		`{"type":"conversation_started","payload":{"conversationId":"uuid"}}`, failure(cancelled), failure(rejected), failure(streamError),
		`{"type":"agent_selected","conversationId":"uuid","agent_name":"b"}`, `{"type":"error","error":"x"}`, "[1", "{\"type\":\"\xff\"}",
		`{"type":"workflow_thought","conversationId":"uuid","data":{"reason":"x"}}`,
	} {
		f.Add([]byte(compact(seed)))
		f.Add([]byte(compact(seed) + "\n" + compact(askExample) + "\n" + compact(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newCaller(t, nil)
		c.follows()
		create := c.asks(protocol.DoCreate, "", protocol.CreateData{Prompt: "x"})
		send := c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
		stop := ""
		for line := range bytes.Lines(data) {
			c.says(string(bytes.TrimSuffix(line, []byte("\n"))))
			if c.state.PendingApproval("uuid") != nil {
				c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "uuid", Decision: protocol.AllowOnce})
			}
			stop = c.asks(protocol.DoInterrupt, "uuid", nil)
		}
		for !c.wake.IsZero() {
			c.waits()
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
