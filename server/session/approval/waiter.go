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
	request protocol.Approval
	noRule  bool        // no rule can describe everything that it changes
	call    policy.Call // for the policy
	verdict chan agent.Verdict

	asked    chan protocol.Approval // capacity 1
	resolved Resolution             // set before a verdict is sent
}

// NewWaiter returns a waiter for a request of an agent, which it classifies: it reads links of the
// file system.
func NewWaiter(a protocol.Approval, k *policy.Classifier) *Waiter {
	w := &Waiter{request: a, verdict: make(chan agent.Verdict, 1), asked: make(chan protocol.Approval, 1)}
	var whole bool
	w.call, whole = k.Classify(&w.request)
	w.noRule = !whole
	return w
}

// Request returns the request, as it was classified.
func (w *Waiter) Request() protocol.Approval { return w.request }

// Verdict returns the channel that gets the verdict.
func (w *Waiter) Verdict() <-chan agent.Verdict { return w.verdict }

// Asked returns the channel that gets the request of a sub-agent, as it was recorded, once it is
// visible.
func (w *Waiter) Asked() <-chan protocol.Approval { return w.asked }

// SetAsked notes that the request of a sub-agent is visible. It is called at most once.
func (w *Waiter) SetAsked(a protocol.Approval) { w.asked <- a }

// Resolution returns the resolution whose verdict was received.
func (w *Waiter) Resolution() Resolution { return w.resolved }

// Deliver sends a resolution to the agent, once. Ids of options that the session added are left out,
// because the agent does not know them.
func (w *Waiter) Deliver(r *Resolution) {
	v := r.verdict()
	if hasOption(w.request.Options, r.Option) {
		v.Option = r.Option
	}
	w.resolved = *r
	w.verdict <- v
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
