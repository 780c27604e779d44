package client

import (
	"slices"
	"testing"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// An error answers the first request that waits for one: not a message whose turn has started, and
// of the decisions one of its kind.
func TestAnErrorFindsItsRequest(t *testing.T) {
	started := &request{verb: protocol.DoSend, started: &turnStart{turn: "t"}}
	allow := &request{verb: protocol.DoApprove, request: "a", decision: protocol.AllowOnce}
	deny := &request{verb: protocol.DoApprove, request: "b", decision: protocol.Deny}
	var r requests
	for _, req := range []*request{started, deny, allow} {
		r.add(req)
	}
	if got := r.unanswered(); got != deny {
		t.Errorf("unanswered: %+v", got)
	}
	if got := r.decision(wire.CodeExecuteFailed); got != allow {
		t.Errorf("a failed tool: %+v", got)
	}
	if got := r.decision(wire.CodeRejected); got != deny {
		t.Errorf("a rejection: %+v", got)
	}
	if got := r.decisionsOn("b"); !slices.Equal(got, []*request{deny}) {
		t.Errorf("decisions on b: %+v", got)
	}
}

// A request ends once: by its key, by its verb or by its deadline.
func TestARequestEndsOnce(t *testing.T) {
	late := &request{verb: protocol.DoApprove, key: "k", deadline: codectest.Start}
	early := &request{verb: protocol.DoInterrupt, deadline: codectest.Start.Add(time.Second)}
	r := requests{inFlight: []*request{late, early}}
	if got := r.expired(codectest.Start); !slices.Equal(got, []*request{late}) {
		t.Errorf("expired: %+v", got)
	}
	if r.takeKey("") != nil || r.takeKey("k") != late || r.takeKey("k") != nil || r.remove(late) {
		t.Error("the request with a key ends more than once")
	}
	if got := r.takeAll(protocol.DoInterrupt); !slices.Equal(got, []*request{early}) || len(r.inFlight) != 0 {
		t.Errorf("interrupts: %+v, left %+v", got, r.inFlight)
	}
}
