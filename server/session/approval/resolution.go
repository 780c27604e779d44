package approval

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// A Resolution is the outcome of a request. The first one of a request is the only one.
type Resolution struct {
	protocol.ApprovalResolvedData
	By   *protocol.Actor `json:"by,omitempty"`
	Turn string          `json:"turn,omitempty"` // of the request
	Task string          `json:"-"`              // of the request

	// Hidden: the answers in Input lack those to secret questions, which secret has. It is nil in a
	// resolution that was stored.
	Hidden bool `json:"hidden,omitempty"`
	secret map[string][]string
}

// Encode returns the resolution as it is stored.
func (r *Resolution) Encode() json.RawMessage { return protocol.MustEncode(r) }

// verdict returns the resolution for the agent. The answers to secret questions are lost with the
// process that got them: the request counts as cancelled then.
func (r *Resolution) verdict() agent.Verdict {
	v := agent.Verdict{Outcome: r.Outcome, Decision: r.Decision, Reason: r.Reason, Input: r.Input, By: r.By}
	switch {
	case r.Hidden && r.secret == nil:
		return agent.Verdict{Outcome: protocol.Cancelled}
	case r.Hidden:
		in := *r.Input
		in.Answers = r.secret
		v.Input = &in
	}
	return v
}

// conflict returns the error for a decision that came too late.
func (r *Resolution) conflict() error {
	w := &protocol.Winner{Outcome: r.Outcome, Decision: r.Decision, Option: r.Option}
	by := ""
	if r.By != nil {
		w.By = *r.By
		by = " by " + r.By.Name
	}
	return &protocol.Error{Code: protocol.CodeConflict, Winner: w, Message: "already " + string(r.Outcome) + by}
}

// resolve returns the resolution of a pending request; by is nil if no user caused it.
func resolve(st *protocol.State, by *protocol.Actor, d protocol.ApprovalResolvedData) Resolution {
	r := Resolution{ApprovalResolvedData: d, By: by}
	if st.Turn != nil {
		r.Turn = st.Turn.Turn
	}
	if a := st.PendingApproval(d.Request); a != nil {
		r.Task = a.Task
	}
	return r
}

// byRule returns the resolution of a request that a rule allows.
func byRule(st *protocol.State, request string, rule *protocol.Rule) Resolution {
	by := rule.By
	return resolve(st, &by, protocol.ApprovalResolvedData{
		Request: request, Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: rule.ID,
	})
}

func cancelled(st *protocol.State, request string) Resolution {
	return resolve(st, nil, protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Cancelled})
}

// CancelAll returns the cancellations of all pending requests.
func CancelAll(st *protocol.State) (list []Resolution) {
	for i := range st.Approvals {
		list = append(list, cancelled(st, st.Approvals[i].Request))
	}
	return list
}

// Expire returns the resolutions of the pending requests past their deadline.
func Expire(st *protocol.State, now time.Time) (list []Resolution) {
	for i := range st.Approvals {
		if a := &st.Approvals[i]; a.Expires != nil && !now.Before(*a.Expires) {
			list = append(list, resolve(st, nil, protocol.ApprovalResolvedData{
				Request: a.Request, Outcome: protocol.Expired,
			}))
		}
	}
	return list
}
