package session

import (
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/archive"
)

// Reconfigure changes limits, timeouts and the default agent for later operations, also of existing
// sessions, and ignores the other fields.
func TestReconfigureAppliesToWhatBeginsLater(t *testing.T) {
	bubble(t, Config{StateTTL: time.Hour}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		expiry := func() time.Duration {
			got := must[protocol.ExportResult](r, r.do(anna, newCommand(protocol.DoExport, id, protocol.Empty{})))
			return time.Until(got.Expires).Round(time.Minute)
		}
		state := exportOf(r, id)
		if d := expiry(); d != time.Hour {
			t.Errorf("expires in %s", d)
		}
		r.hub.Reconfigure(Config{
			DefaultAgent: "another", StateTTL: 2 * time.Hour, Limits: Limits{Queue: 1, Sessions: 3},
			Signing:         archive.Signing{Secret: []byte("another")},
			ApprovalTimeout: time.Minute, EditHold: time.Minute, AgentIdle: time.Minute,
		})
		if d := expiry(); d != 2*time.Hour {
			t.Errorf("expires in %s after the change", d)
		}
		send := newCommand(protocol.DoSend, id, protocol.SendData{Text: "more"})
		must[protocol.SendResult](r, r.do(anna, send))
		refused(r, r.do(anna, send), protocol.CodeQueueFull)
		must[protocol.CreateResult](r, restore(r, state)) // the secret is the same
		if agent := r.state(r.create()).Agent; agent != "another" {
			t.Errorf("agent %s", agent)
		}
		if r.createWith(protocol.CreateData{}).err == nil {
			t.Error("created beyond the limit")
		}
		now := r.hub.settings()
		if now.ApprovalTimeout != time.Minute || now.EditHold != time.Minute || now.AgentIdle != time.Minute {
			t.Errorf("%+v", now)
		}
		r.agents.run().finish(agent.End{}, nil)
		r.waitIdle()
	})
}
