package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/session/record"
)

// Approvals are the agents that wait for requests, and the resolutions that are not durable yet. It
// is owned by one goroutine.
type Approvals struct {
	stored  func(request string) ([]byte, error)
	waiters map[string][]*Waiter  // by request
	decided map[string]Resolution // by request
	noted   map[string]bool       // notes that users got
}

// New returns Approvals without requests. stored returns a stored resolution of the session, as
// Resolution.Encode returned it, or nil.
func New(stored func(request string) ([]byte, error)) *Approvals {
	p := &Approvals{stored: stored, noted: map[string]bool{}}
	p.Reset()
	return p
}

// Reset drops everything, after a failed commit. The requests of sub-agents, whose turns go on, are
// cancelled.
func (p *Approvals) Reset() {
	for _, waiters := range p.waiters {
		for _, w := range waiters {
			if w.Request.SubAgent != nil {
				w.Cancel()
			}
		}
	}
	p.waiters, p.decided = map[string][]*Waiter{}, map[string]Resolution{}
}

// find returns the resolution of a request, or nil when it has none.
func (p *Approvals) find(request string) (*Resolution, error) {
	if r, ok := p.decided[request]; ok {
		return &r, nil
	}
	raw, err := p.stored(request)
	if err != nil || raw == nil {
		return nil, err
	}
	r := new(Resolution)
	return r, json.Unmarshal(raw, r)
}

// Conflict returns the error for an answer to a request that is resolved; nil if it is not.
func (p *Approvals) Conflict(request string) error {
	if r, err := p.find(request); err == nil && r != nil {
		return r.conflict()
	}
	return nil
}

// Terms are the conditions for an agent's requests.
type Terms struct {
	Explains bool // the agent explains requests
	Agent    *agent.Capabilities

	Refused func(*protocol.Approval) string // why the sandbox refuses a request; empty: it may not

	Policy  *policy.Decider
	Timeout time.Duration // for the decision of a request; 0: none
	Limits  Limits

	Now time.Time
	ID  string // of a request without one
}

// Limits bound the pending requests and the rules of a session.
type Limits struct {
	Requests int
	Rules    int
	Bytes    int64 // of the pending requests, and of the rules, each encoded
}

// ErrTooMany is the error of a request beyond the limit.
var ErrTooMany = errors.New("too many requests are pending")

// Request returns the request to record for a waiter, completed; sanitized is the request that the
// log can take. For a request that this turn has made before it returns no request: a decided one has
// a resolution, which the caller delivers after the commit, and a pending one has a further waiter.
func (p *Approvals) Request(
	st *protocol.State, w *Waiter, sanitized protocol.Approval, t Terms,
) (a *protocol.Approval, decided *Resolution, err error) {
	a = &sanitized
	if a.SubAgent != nil {
		a.Request = ""
	}
	if a.Request != "" {
		if st.PendingApproval(a.Request) != nil {
			p.waiters[a.Request] = append(p.waiters[a.Request], w)
			return nil, nil, nil
		}
		r, err := p.find(a.Request)
		switch {
		case err != nil:
			return nil, nil, err
		case r == nil:
		case r.Turn == st.Turn.Turn:
			return nil, r, nil
		default: // the id of an earlier turn's request: a new request
			a.Request = ""
		}
	}
	if a.Request == "" {
		a.Request = t.ID
	}
	if err := checkPage(a); err != nil {
		return nil, nil, err
	}
	complete(a, st.CWD, w.noRule, &t)
	a.SubAgent = w.Request.SubAgent
	if t.Policy.Judge(&w.call).Action != policy.AskUser && st.RuleFor(a) == nil {
		a.Policy = t.Policy.Label()
	}
	switch {
	case a.SubAgent != nil:
		a.Tool = "" // a call in the session of the sub-agent
	case st.Turn.Message.Work:
	case st.Turn.Message.By != nil && st.Turn.Message.By.AgentSession() != "":
		a.AskedBy = st.Turn.Message.By
	}
	room := t.Limits.Bytes - protocol.MaxEvent // an explanation may follow
	if len(st.Approvals) >= t.Limits.Requests ||
		record.Size(append(slices.Clip(st.Approvals), *a), room) > room {
		return nil, nil, ErrTooMany
	}
	return a, nil, nil
}

// Note returns what users should know of a rule that does not match a waiter's request, once; else
// "".
func (p *Approvals) Note(w *Waiter, d *policy.Decider) string {
	note := d.Judge(&w.call).Note
	if note == "" || p.noted[note] {
		return ""
	}
	p.noted[note] = true
	return note
}

// Asked notes that a request of a waiter was recorded. If a rule or the policy resolves it without
// a user, ok is true.
func (p *Approvals) Asked(
	st *protocol.State, a *protocol.Approval, w *Waiter, d *policy.Decider,
) (r Resolution, ok bool) {
	p.waiters[a.Request] = []*Waiter{w}
	if rule := st.RuleFor(a); rule != nil && a.Refused == "" {
		return byRule(st, a.Request, rule), true
	}
	data, ok := d.Resolve(a.Request, &w.call)
	return resolve(st, nil, refuse(data, a)), ok
}

// ByPolicy returns the resolutions of the pending requests that a new policy decides.
func (p *Approvals) ByPolicy(st *protocol.State, d *policy.Decider) (list []Resolution) {
	for i := range st.Approvals {
		request := st.Approvals[i].Request
		if waiters := p.waiters[request]; len(waiters) > 0 {
			if data, ok := d.Resolve(request, &waiters[0].call); ok {
				list = append(list, resolve(st, nil, refuse(data, &st.Approvals[i])))
			}
		}
	}
	return list
}

// refuse returns the resolution of a policy. One that allows what the sandbox refuses denies it.
func refuse(d protocol.ApprovalResolvedData, a *protocol.Approval) protocol.ApprovalResolvedData {
	if a.Refused != "" && d.Outcome == protocol.Allowed {
		d.Outcome, d.Decision, d.Reason = protocol.Denied, protocol.Deny, a.Refused
	}
	return d
}

// Withdraw removes a waiter that waits no more. It returns the resolution of its request, if no other
// waiter remains.
func (p *Approvals) Withdraw(st *protocol.State, w *Waiter) []Resolution {
	for request, waiters := range p.waiters {
		i := slices.Index(waiters, w)
		if i < 0 {
			continue
		}
		if p.waiters[request] = slices.Delete(waiters, i, i+1); len(waiters) == 1 {
			return []Resolution{cancelled(st, request)}
		}
	}
	return nil
}

// Resolved notes that a resolution was recorded. Deliver, to be called with the result of the
// commit, gives the verdict to the waiting agents.
func (p *Approvals) Resolved(r Resolution) (deliver func(failed error)) {
	p.decided[r.Request] = r
	waiters := p.waiters[r.Request]
	delete(p.waiters, r.Request)
	return func(failed error) {
		if failed != nil {
			return // the turn is over
		}
		for _, w := range waiters {
			w.Deliver(&r)
		}
		delete(p.decided, r.Request) // the store has it
	}
}

// Digest returns a request as it was asked, without the explanations given since, and its digest. A
// link that decides a request names it, so that it decides no other one of the same id.
func Digest(a *protocol.Approval) (raw json.RawMessage, digest string) {
	asked := *a
	asked.Explained = nil
	raw = protocol.MustEncode(asked)
	sum := sha256.Sum256(raw)
	return raw, hex.EncodeToString(sum[:])
}
