package session

import (
	"context"
	"slices"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
)

// Pending returns the pending requests of a session, as they are visible.
func (h *Hub) Pending(ctx context.Context, id string) ([]protocol.Approval, error) {
	var list []protocol.Approval
	err := h.await(ctx, id, func(s *Session, done func(error)) {
		s.journal.Wait(eventlog.Waiter{Refuse: done, Done: func(failed error) {
			list = slices.Clone(s.state.Approvals)
			done(failed)
		}})
	})
	if err != nil {
		return nil, err // the session may still set the list
	}
	return list, nil
}

// Decide decides a request by its digest: if the pending request with that id has another digest,
// nothing is decided and the error has the code conflict. It returns when the decision is visible.
func (h *Hub) Decide(ctx context.Context, id, digest string, d *protocol.ApproveData, by protocol.Actor) error {
	return h.await(ctx, id, func(s *Session, done func(error)) {
		if a := s.state.PendingApproval(d.Request); a != nil {
			if _, now := approval.Digest(a); now != digest {
				done(protocol.Errorf(protocol.CodeConflict, "the request is not the one that was shown"))
				return
			}
		}
		s.do(&command{verb: protocol.DoApprove, data: d, by: by, reply: withoutBody(done)})
	})
}
