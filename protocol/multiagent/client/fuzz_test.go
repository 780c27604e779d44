package client

import (
	"bytes"
	"testing"

	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// FuzzClient delivers any frames to the client end.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		multiagenttest.ChunkExample, multiagenttest.CompleteExample, multiagenttest.ApprovalExample, multiagenttest.ExecutedExample, multiagenttest.ErrorExample, `{"type":"PONG"}`,
		`{"type":"conversation_started","payload":{"conversationId":"uuid"}}`, multiagenttest.ErrorMessage(wire.CodeCancelled),
		multiagenttest.ErrorMessage(wire.CodeRejected), multiagenttest.ErrorMessage(wire.CodeStreamError),
		`{"type":"agent_selected","conversationId":"uuid","agent_name":"b"}`, `{"type":"error","error":"x"}`, "[1",
		"{\"type\":\"\xff\"}",
		`{"type":"workflow_thought","conversationId":"uuid","data":{"reason":"x"}}`,
	} {
		f.Add([]byte(multiagenttest.CompactJSON(seed)))
		f.Add([]byte(multiagenttest.CompactJSON(seed) + "\n" + multiagenttest.CompactJSON(multiagenttest.ApprovalExample) + "\n" + multiagenttest.CompactJSON(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newClientTest(t, nil)
		c.Subscribe()
		create := c.Command(protocol.DoCreate, "", protocol.CreateData{Prompt: "x"})
		send := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
		stop := ""
		for line := range bytes.Lines(data) {
			c.Receive(string(bytes.TrimSuffix(line, []byte("\n"))))
			if c.State.PendingApproval("uuid") != nil {
				c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{
					Request: "uuid", Decision: protocol.AllowOnce,
				})
			}
			stop = c.Command(protocol.DoInterrupt, "uuid", nil)
		}
		for !c.Wake.IsZero() {
			c.Advance()
		}
		for _, id := range []string{create, send, stop} {
			if id != "" && c.Answers[id] == nil {
				t.Errorf("command %s has no answer", id)
			}
		}
		if c.State.Seq > uint64(len(c.Events)) {
			t.Errorf("seq %d after %d events", c.State.Seq, len(c.Events))
		}
	})
}
