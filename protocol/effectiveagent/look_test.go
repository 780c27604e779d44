package effectiveagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

// A look at a session that is not followed follows it: the server may say that there is none.
func TestALookFollows(t *testing.T) {
	g := newGuest(t, nil)
	id := g.does(protocol.DoSnapshot, "r", nil)
	if said := g.flush(); len(said) != 1 || !strings.Contains(said[0], `"subscribe"`) || len(g.answers) > 0 {
		t.Fatalf("said %s, answered %v", said, g.answers)
	}
	g.waits(grace)
	var r protocol.SnapshotResult
	if g.result(id, &r); r.Snapshot.State.Session != "r" || r.Status != protocol.Idle {
		t.Errorf("the snapshot: %+v", r)
	}
	id = g.does(protocol.DoHistory, "other", nil)
	g.hears(`{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"no agent runtime other"}`)
	if g.code(id) != protocol.CodeNoSession {
		t.Errorf("the history of what is not there: %s", g.code(id))
	}
}

// What becomes of a message is told to whoever follows later.
func TestASendFollows(t *testing.T) {
	g := newGuest(t, nil)
	g.does(protocol.DoSend, "r", protocol.SendData{Text: "hi"})
	if said := g.flush(); len(said) != 2 || !strings.Contains(said[0], `"subscribe"`) {
		t.Fatalf("said %s", said)
	}
	g.hears(says(`{"type":"output","payload":"well"}`))
	g.does(protocol.DoSubscribe, "r", protocol.SubscribeData{Position: &protocol.Position{}})
	if got := g.story(); !strings.Contains(got, "message.user turn.started text.start text.delta text.end") {
		t.Errorf("told %s", got)
	}
}
