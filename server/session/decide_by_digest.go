package session

import (
	"context"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
)

// Pending returns the pending requests of a session, as they are visible.
func (h *Hub) Pending(ctx context.Context, id string) ([]protocol.Approval, error) {
	type answer struct {
		list []protocol.Approval
		err  error
	}
	answers := make(chan answer, 1)
	refuse := func(err error) { answers <- answer{nil, err} }
	err := h.ask(ctx, id, func(s *Session) {
		s.journal.Wait(eventlog.Waiter{Refuse: refuse, Done: func(failed error) {
			answers <- answer{append([]protocol.Approval(nil), s.state.Approvals...), failed}
		}})
	}, refuse)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-answers:
		return a.list, a.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Decide decides a request by its digest: if the pending request with that id has another digest,
// nothing is decided and the error has the code conflict. It returns when the decision is visible.
func (h *Hub) Decide(ctx context.Context, id, digest string, d *protocol.ApproveData, by protocol.Actor) error {
	answers := make(chan error, 1)
	refuse := func(err error) { answers <- err }
	cmd := &command{
		verb: protocol.DoApprove, data: d, by: by, reply: func(_ json.RawMessage, err error) { answers <- err },
	}
	err := h.ask(ctx, id, func(s *Session) {
		if a := s.state.PendingApproval(d.Request); a != nil {
			if _, now := approval.Digest(a); now != digest {
				answers <- protocol.Errorf(protocol.CodeConflict, "the request is not the one that was shown")
				return
			}
		}
		s.do(cmd)
	}, refuse)
	if err != nil {
		return err
	}
	select {
	case err := <-answers:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
