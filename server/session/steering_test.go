package session

import (
	"testing"

	"agentctl/protocol"
)

func TestX(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		r.agents.steers = true
		id := r.create()
		r.send(id, "one")
		r.agents.run().ask(protocol.Approval{Request: "q1", Kind: protocol.ApproveCommand, Title: "run", Command: "ls", Options: []protocol.Option{{ID: "yes", Kind: protocol.AllowOnce}}})
		r.waitIdle()
		k := r.do(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "two", Delivery: protocol.DeliverSteer}))
		t.Log(string(k.body), k.err)
		r.agents.run().take(func(protocol.Message) {})
		r.waitIdle()
		for _, e := range r.events(id, false) {
			t.Log(e.Seq, e.Type, string(e.Data))
		}
	})
}
