package multiagent

import (
	"testing"

	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// agentctl's server answers messages with a key, and its commands have that key.
func TestAMessageWithAKeyIsAnswered(t *testing.T) {
	h := multiagenttest.NewServer(t, Dialect.Server, codec.ServerOptions{})
	h.StartTurn("uuid")
	h.TakeSent()
	h.Receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"},"agentctl":{"key":"k1"}}`)
	sent := h.TakeSent()
	if sent[0] != multiagenttest.AnswerTo("k1", `{"turn":"queued"}`) {
		t.Errorf("answered %s", sent[0])
	}
	if cmd := h.Commands[len(h.Commands)-1]; cmd.Command != protocol.DoSend || cmd.Key != "k1" {
		t.Errorf("command %+v", cmd)
	}
	var end codec.Output
	h.Append(&end, "uuid", protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	h.StartNext(&end)
	h.ReceiveNative(end.Native...)
	if sent = h.TakeSent(); sent[len(sent)-1] != multiagenttest.AnswerTo("k1", `{"turn":"begun"}`) {
		t.Errorf("its turn begins with %s", sent)
	}
	winner := &protocol.Error{Code: protocol.CodeConflict, Message: "bea was first", Winner: &protocol.Winner{
		By: protocol.Actor{Name: "bea"}, Outcome: protocol.Denied, Decision: protocol.Deny,
	}}
	h.Answer = func(out *codec.Output, cmd *protocol.Command) bool {
		if cmd.Command == protocol.DoApprove {
			h.Responder.Fail(out, cmd, winner)
		}
		return cmd.Command == protocol.DoApprove
	}
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true},"agentctl":{"key":"k2"}}`)
	sent = h.TakeSent()

	c := multiagenttest.NewClient(t, Dialect.Client, true, nil)
	c.Subscribe()
	c.Silent = true
	late := c.Do(protocol.DoApprove, "uuid", "k2",
		protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce})
	c.Receive(sent...)
	if a := c.Answers[late]; c.ErrorCode(late) != protocol.CodeConflict || a.Error.Winner == nil ||
		a.Error.Winner.By.Name != "bea" {
		t.Errorf("a late decision: %+v", a)
	}
}
