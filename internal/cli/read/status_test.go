package read

import (
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestStatusCountsTheClientsThatAreNotListed(t *testing.T) {
	r := &protocol.SnapshotResult{
		Snapshot: protocol.Snapshot{State: &protocol.State{}},
		Clients:  []protocol.Client{{Client: "c1"}, {Client: "c2"}}, ClientCount: 40,
	}
	var b strings.Builder
	newStatusResult(r).write(&b, r.Snapshot.State)
	if !strings.Contains(b.String(), "and 38 more") {
		t.Errorf("status:\n%s", b.String())
	}
	r.ClientCount = 0
	b.Reset()
	newStatusResult(r).write(&b, r.Snapshot.State)
	if strings.Contains(b.String(), "more") {
		t.Errorf("status of all clients:\n%s", b.String())
	}
}

func TestStatusSaysWhoseSubAgentASessionShows(t *testing.T) {
	s := &protocol.State{Attributes: protocol.Attributes{Parent: "s_1", SubAgent: true}}
	var b strings.Builder
	newStatusResult(&protocol.SnapshotResult{Snapshot: protocol.Snapshot{State: s}}).write(&b, s)
	if !strings.Contains(b.String(), "s_1  this session shows a sub-agent of its agent\n") {
		t.Errorf("status:\n%s", b.String())
	}
}
