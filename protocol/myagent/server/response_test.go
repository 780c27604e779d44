package server

import (
	"testing"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/myagenttest"
	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// MY-13: yes continues, no cancels, and so does the end of the waiting time.
func TestAConfirmationIsAllowedOrDenied(t *testing.T) {
	answer := func(step, content string) string {
		return `{"event":"user.response","step_id":"` + step + `","content":` + content + `}`
	}
	for _, tt := range []struct {
		name string
		act  func(b *myagenttest.Server, step string)
		want protocol.Decision
	}{
		{
			"approved", func(b *myagenttest.Server, step string) { b.Receive(answer(step, `{"approved":true}`)) },
			protocol.AllowOnce,
		},
		{"denied", func(b *myagenttest.Server, step string) { b.Receive(answer(step, `{"approved":false}`)) }, protocol.Deny},
		{"no answer", func(b *myagenttest.Server, _ string) { b.Advance(5 * time.Minute) }, protocol.Deny},
	} {
		b := openedServer(t)
		b.Receive(`{"event":"user.message","content":"slides"}`)
		b.ReceiveNative(b.Native.Append("s1", myagenttest.PlanApprovalTurn()...)...)
		tt.act(b, string(b.NextFrame(wire.AgentUserConfirm).Step))
		var d protocol.ApproveData
		if b.LastCommand(protocol.DoApprove, &d); d.Decision != tt.want {
			t.Errorf("%s: decided %q, want %q", tt.name, d.Decision, tt.want)
		}
	}
	b := openedServer(t)
	b.TakeEvents()
	b.ReceiveNative(b.Native.Append("s1",
		codectest.Event(protocol.PlanCancelled, "t1", protocol.PlanErrorData{Message: "too expensive"}))...)
	if m := b.NextFrame(wire.PlanCancelled); !myagenttest.EqualJSON(m.Content, []byte(`{"reason":"too expensive"}`)) ||
		myagenttest.MetaOf(m).Str("reason") != "too expensive" {
		t.Errorf("plan.cancelled: content %s, metadata %s", m.Content, m.Metadata)
	}
}
