package codec

import "agentctl/protocol"

// maxDecisions bounds Decisions.
const maxDecisions = 256

// Decisions remembers how the newest approval requests of a session ended. The zero value is ready.
type Decisions struct{ winners Recent[protocol.Winner] }

// Put records how a request ended.
func (d *Decisions) Put(by *protocol.Actor, r protocol.ApprovalResolvedData) {
	d.winners.Limit = maxDecisions
	d.winners.Put(r.Request, WinnerOf(by, r))
}

// Get returns how a request ended.
func (d *Decisions) Get(request string) (w protocol.Winner, ok bool) { return d.winners.Get(request) }

// Delete forgets a request, which was asked again.
func (d *Decisions) Delete(request string) { d.winners.Delete(request) }

// Find returns the pending approval that an approve command is about. An empty a.Request means the
// only pending one, and is filled in. The error is conflict with the winner of a decided request,
// or not_found.
func (d *Decisions) Find(st *protocol.State, a *protocol.ApproveData) (*protocol.Approval, *protocol.Error) {
	if a.Request == "" {
		if len(st.Approvals) != 1 {
			return nil, protocol.Errorf(protocol.CodeNotFound, "%d approvals are pending: name one", len(st.Approvals))
		}
		a.Request = st.Approvals[0].Request
	}
	if p := st.PendingApproval(a.Request); p != nil {
		return p, nil
	}
	return nil, d.Error(a.Request)
}

// Error returns why a request that is not pending cannot be decided: conflict with the winner, or
// not_found.
func (d *Decisions) Error(request string) *protocol.Error {
	if w, ok := d.winners.Get(request); ok {
		return Conflict(w)
	}
	return protocol.Errorf(protocol.CodeNotFound, "the request %q is not pending", Truncate(request, maxExcerpt))
}

// WinnerOf returns the decision that an approval.resolved event reports. by may be nil.
func WinnerOf(by *protocol.Actor, d protocol.ApprovalResolvedData) protocol.Winner {
	w := protocol.Winner{Outcome: d.Outcome, Decision: d.Decision, Option: d.Option}
	if by != nil {
		w.By = *by
	}
	return w
}

// Conflict is the error of a decision that came after the winner's, or after the request's end
// without one.
func Conflict(w protocol.Winner) *protocol.Error {
	e := &protocol.Error{Code: protocol.CodeConflict, Winner: &w}
	switch {
	case w.By.Name != "":
		e.Message = w.By.Name + " has already decided"
	case w.Outcome == protocol.Cancelled || w.Outcome == protocol.Expired:
		e.Message = "the request is over: " + string(w.Outcome)
	default:
		e.Message = "someone else has already decided"
	}
	return e
}
