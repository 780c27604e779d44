package session

import (
	"context"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/session/approval"
)

// A decision about one request does not decide another request under the same id.
func TestARequestIsDecidedByItsDigest(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := startAsking(r, protocol.Approval{Request: "q", Kind: protocol.ApproveCommand, Command: "ls"})
		list, err := r.hub.Pending(context.Background(), id)
		if err != nil || len(list) != 1 || list[0].Command != "ls" {
			t.Fatalf("%+v, %v", list, err)
		}
		_, digest := approval.Digest(&list[0])
		explained := list[0]
		explained.Explained = []string{"why"}
		if _, same := approval.Digest(&explained); same != digest {
			t.Error("an explanation changes the digest")
		}
		other := list[0]
		other.Command = "rm"
		_, wrong := approval.Digest(&other)
		by := protocol.Actor{Name: "hook phone"}
		decide := func(digest string) error {
			return r.hub.Decide(context.Background(), id, digest,
				&protocol.ApproveData{Request: "q", Decision: protocol.AllowOnce}, by)
		}
		if err := decide(wrong); protocol.CodeOf(err) != protocol.CodeConflict || len(r.state(id).Approvals) != 1 {
			t.Errorf("by the digest of another request: %v", err)
		}
		if err := decide(digest); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if v, ok := r.agents.run().verdict("q"); !ok || v.Outcome != protocol.Allowed || *v.By != by {
			t.Errorf("the agent received %+v, %t", v, ok)
		}
		if err := decide(digest); protocol.CodeOf(err) != protocol.CodeConflict {
			t.Errorf("decided again: %v", err)
		}
		if _, err := r.hub.Pending(context.Background(), "s_none"); protocol.CodeOf(err) != protocol.CodeNoSession {
			t.Errorf("%v", err)
		}
	})
}
