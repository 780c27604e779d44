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
		if a.Turn != r.Turn { // a sub-agent's request, which outlasted its turn
			r.Turn = ""
		}
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

// CancelTurn returns the cancellations of the pending requests that end with a turn: all but the requests of
// sub-agents, which have their own turns.
func CancelTurn(st *protocol.State) []Resolution {
	return cancelWhere(st, func(a *protocol.Approval) bool { return a.SubAgent == nil || st.Mirrors(a) })
}

// CancelSubAgents returns the cancellations of the pending requests of sub-agents.
func CancelSubAgents(st *protocol.State) []Resolution {
	return cancelWhere(st, func(a *protocol.Approval) bool { return a.SubAgent != nil && !st.Mirrors(a) })
}

// CancelAll returns the cancellations of all pending requests.
func CancelAll(st *protocol.State) []Resolution {
	return cancelWhere(st, func(*protocol.Approval) bool { return true })
}

func cancelWhere(st *protocol.State, ends func(*protocol.Approval) bool) (list []Resolution) {
	for i := range st.Approvals {
		if a := &st.Approvals[i]; ends(a) {
			list = append(list, cancelled(st, a.Request))
		}
	}
	return list
}

// Expire returns the resolutions of the pending requests past their deadline. The root expires those
// that the session mirrors.
func Expire(st *protocol.State, now time.Time) (list []Resolution) {
	for i := range st.Approvals {
		if a := &st.Approvals[i]; a.Expires != nil && !now.Before(*a.Expires) && !st.Mirrors(a) {
			list = append(list, resolve(st, nil, protocol.ApprovalResolvedData{
				Request: a.Request, Outcome: protocol.Expired,
			}))
		}
	}
	return list
}
