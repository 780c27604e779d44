package effectiveagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

// A look at a session that is not followed follows it: the server may say that there is none.
func TestALookFollows(t *testing.T) {
	g := newClientHarness(t, nil)
	id := g.send(protocol.DoSnapshot, "r", nil)
	if said := g.flush(); len(said) != 1 || !strings.Contains(said[0], `"subscribe"`) || len(g.answers) > 0 {
		t.Fatalf("said %s, answered %v", said, g.answers)
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

// What becomes of a message is told to whoever follows later.
func TestASendFollows(t *testing.T) {
	g := newClientHarness(t, nil)
	g.send(protocol.DoSend, "r", protocol.SendData{Text: "hi"})
	if said := g.flush(); len(said) != 2 || !strings.Contains(said[0], `"subscribe"`) {
		t.Fatalf("said %s", said)
	}
	g.receive(activityFrame(`{"type":"output","payload":"well"}`))
	g.send(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &protocol.Position{}})
	if got := g.eventTypes(); !strings.Contains(got, "message.user turn.started text.start text.delta text.end") {
		t.Errorf("told %s", got)
	}
}
