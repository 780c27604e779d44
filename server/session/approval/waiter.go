package approval

import (
	"errors"
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// A Waiter is an agent that waits for the verdict on a request.
type Waiter struct {
	Request    protocol.Approval      // as it was classified
	Asked      chan protocol.Approval // gets the request of a sub-agent, as it was recorded, once it is visible
	Verdict    chan agent.Verdict
	Resolution Resolution // set before the verdict is sent

	noRule bool        // no rule can describe everything that the request changes
	call   policy.Call // for the policy
}

// NewWaiter returns a waiter for a request of an agent, which it classifies: it reads links of the
// file system.
func NewWaiter(a protocol.Approval, k *policy.Classifier) *Waiter {
	w := &Waiter{Request: a, Verdict: make(chan agent.Verdict, 1), Asked: make(chan protocol.Approval, 1)}
	var whole bool
	w.call, whole = k.Classify(&w.Request)
	w.noRule = !whole
	return w
}

// Deliver sends a resolution to the agent, once. Ids of options that the session added are left out,
// because the agent does not know them.
func (w *Waiter) Deliver(r *Resolution) {
	v := r.verdict()
	if hasOption(w.Request.Options, r.Option) {
		v.Option = r.Option
	}
	w.Resolution = *r
	w.Verdict <- v
}

// Cancel delivers the cancellation of the request: its turn ends.
func (w *Waiter) Cancel() {
	w.Deliver(&Resolution{ApprovalResolvedData: protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}})
}

// Refuse delivers that the request is denied, because it could not be recorded.
func (w *Waiter) Refuse(err error) {
	reason := "the request could not be recorded"
	if errors.Is(err, ErrTooMany) {
		reason = "too many requests are pending: ask again when some are decided"
	}
	w.Deliver(&Resolution{ApprovalResolvedData: protocol.ApprovalResolvedData{
		Outcome: protocol.Denied, Reason: reason,
	}})
}

func hasOption(options []protocol.Option, id string) bool {
	return slices.ContainsFunc(options, func(o protocol.Option) bool { return o.ID == id })
}
