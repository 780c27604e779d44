package effectiveagent

import (
	"fmt"
	"testing"

	"agentctl/protocol"
)

// EA-15: an error fails the command whose agent runtime it names.
func TestAnErrorFailsTheCommandThatItNames(t *testing.T) {
	g := newClientHarness(t, nil)
	a := g.send(protocol.DoSend, "r1", protocol.SendData{Text: "x"})
	b := g.send(protocol.DoSend, "r12", protocol.SendData{Text: "x"})
	c := g.send(protocol.DoSend, "r1", protocol.SendData{Text: "y"})
	g.receive(`{"type":"error","code":"AGENT_RUNTIME_SEND_FAILED","message":"AgentRuntimeService failed to process input for r12","details":"AgentRuntimeNotFoundError"}`)
	if g.code(b) != protocol.CodeAgentFailed {
		t.Errorf("r12: %v", g.answers[b].Error)
	}
	g.receive(`{"type":"error","code":"AGENT_RUNTIME_SEND_FAILED","message":"AgentRuntimeService failed to process input for r1: no session","details":"no_session"}`)
	if g.code(a) != protocol.CodeNoSession {
		t.Errorf("r1: %v", g.answers[a].Error)
	}
	g.advance(errorTimeout)
	if g.answers[c].Error != nil {
		t.Errorf("the second send to r1: %v", g.answers[c].Error)
	}
}

func TestAnErrorNamesAWholeID(t *testing.T) {
	for _, c := range []struct {
		text, id string
		want     bool
	}{
		{"failed for r", "r", true},
		{"r: no", "r", true},
		{`"r"`, "r", true},
		{"failed for r1", "r", false},
		{"for x-r", "r", false},
		{"for r1 and r", "r", true},
		{"für", "r", false},
		{"", "r", false},
		{"a a b", "a b", true},
		{"\xffr\xff", "r", true},
	} {
		if got := containsID(c.text, c.id); got != c.want {
			t.Errorf("%q names %q: %v", c.text, c.id, got)
		}
	}
}

// A late refusal of an ended subscription has no other effect.
func TestALateRefusalEndsNothingElse(t *testing.T) {
	g := newFollowingClient(t)
	g.receive(activityFrame(`{"type":"status","payload":"x"}`))
	g.eventTypes()
	g.receive(`{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"Failed to subscribe to agent runtime other"}`)
	if got := g.eventTypes(); got != "error" || g.codec.sessions["r"].err != nil {
		t.Errorf("got %s", got)
	}
}

// EA-12: every code has a native one.
func TestEveryCodeIsUnderstood(t *testing.T) {
	for c, want := range map[errorCode]protocol.Code{
		unknownError: protocol.CodeInternal, parseError: protocol.CodeInvalidJSON,
		validationError: protocol.CodeInvalidMessage,
		sendFailed:      protocol.CodeAgentFailed, serializationError: protocol.CodeInvalidJSON,
		unauthorized: protocol.CodeUnauthorized, unknownMessageType: protocol.CodeUnsupported,
		internalServerError: protocol.CodeInternal,
		"OF_TOMORROW":       protocol.CodeInternal,
	} {
		g := newClientHarness(t, nil)
		id := g.send(protocol.DoSend, "r", protocol.SendData{Text: "x"})
		g.receive(`{"type":"error","code":"` + string(c) + `","message":"no"}`)
		if g.code(id) != want || g.answers[id].Error.Message != "no" {
			t.Errorf("%s became %v", c, g.answers[id].Error)
		}
		g.send(protocol.DoSubscribe, "r", nil)
		g.eventTypes()
		g.receive(`{"type":"error","code":"` + string(c) + `","message":"no"}`)
		if got := g.eventTypes(); got != "error" {
			t.Errorf("%s without a command became %s", c, got)
		}
	}
}

// EA-15, EA-18: a refused subscription ends, the next subscribe gets the error, and the one after
// it is sent again.
func TestARefusedSubscriptionEnds(t *testing.T) {
	g := newFollowingClient(t)
	g.receive(`{"type":"error","code":"AGENT_RUNTIME_SUBSCRIBE_FAILED","message":"Failed to subscribe to agent runtime r"}`)
	var gone protocol.Client
	if len(g.events) != 1 || g.events[0].Type != protocol.ClientDetached || g.events[0].Decode(&gone) != nil ||
		gone.Client != g.codec.Epoch() {
		t.Fatalf("got %+v", g.events)
	}
	g.receive(activityFrame(`{"type":"output","payload":"x"}`))
	if id := g.send(protocol.DoSubscribe, "r", nil); g.code(id) != protocol.CodeNoSession {
		t.Errorf("asked again: %v", g.answers[id])
	}
	if g.flush() != nil {
		t.Error("the server is asked before the client knows")
	}
	if g.send(protocol.DoSubscribe, "r", nil); len(g.flush()) != 1 {
		t.Error("the server is not asked again")
	}
}

// EA-12: the document's nine codes, to the letter.
func TestTheCodesAreTheDocuments(t *testing.T) {
	got := []errorCode{
		unknownError, parseError, validationError, sendFailed, subscribeFailed, serializationError, unauthorized,
		unknownMessageType, internalServerError,
	}
	want := "[UNKNOWN_ERROR PARSE_ERROR VALIDATION_ERROR AGENT_RUNTIME_SEND_FAILED AGENT_RUNTIME_SUBSCRIBE_FAILED SERIALIZATION_ERROR UNAUTHORIZED " +
		"UNKNOWN_MESSAGE_TYPE INTERNAL_SERVER_ERROR]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
