package effectiveagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

// A snapshot of a session without a subscription subscribes: the server may refuse it.
func TestALookFollows(t *testing.T) {
	g := newClientHarness(t, nil)
	id := g.send(protocol.DoSnapshot, "r", nil)
	if sent := g.flush(); len(sent) != 1 || !strings.Contains(sent[0], `"subscribe"`) || len(g.answers) > 0 {
		t.Fatalf("sent %s, answered %v", sent, g.answers)
	}
	g.advance(errorTimeout)
	var r protocol.SnapshotResult
	if g.result(id, &r); r.Snapshot.State.Session != "r" || r.Status != protocol.Idle {
		t.Errorf("the snapshot: %+v", r)
	}
	id = g.send(protocol.DoHistory, "other", nil)
	g.receive(`{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"no agent runtime other"}`)
	if g.code(id) != protocol.CodeNoSession {
		t.Errorf("the history of what is not there: %s", g.code(id))
	}
}

// A send subscribes, so that later subscribers get its turn.
func TestASendFollows(t *testing.T) {
	g := newClientHarness(t, nil)
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "hi"})
	if sent := g.flush(); len(sent) != 2 || !strings.Contains(sent[0], `"subscribe"`) {
		t.Fatalf("sent %s", sent)
	}
	g.receive(activityFrame(`{"type":"output","payload":"well"}`))
	g.send(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &protocol.Position{}})
	if got := g.eventTypes(); !strings.Contains(got, "message.user turn.started text.start text.delta text.end") {
		t.Errorf("got %s", got)
	}
}
