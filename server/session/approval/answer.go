package approval

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

// A Caller identifies the sender of an answer, and holds the conditions for it.
type Caller struct {
	By     protocol.Actor
	Now    time.Time
	RuleID string // of a rule that the answer makes
	Limits Limits
	Agent  *agent.Capabilities
}

// An Answer is a valid answer to a pending request. The decision is explain, or there is a
// resolution to be recorded.
type Answer struct {
	Request    protocol.Approval
	Decision   protocol.Decision
	Resolution Resolution
}

// Answer checks the answer to a pending request. The first decision wins: a later one has the code
// conflict, with the winner.
func (p *Approvals) Answer(st *protocol.State, c Caller, d *protocol.ApproveData) (*Answer, error) {
	a, err := p.Pending(st, d.Request)
	if err != nil {
		return nil, err
	}
	decision, option, err := chooseDecision(a, d)
	if err != nil {
		return nil, err
	}
	if a.Refused != "" && decision.Allows() {
		return nil, protocol.Errorf(protocol.CodeUnsupported, "%s: only a denial answers the request", a.Refused)
	}
	if err := c.checkInput(st.Agent, a, decision, d.Input); err != nil {
		return nil, err
	}
	reason := protocol.ValidText(d.Reason)
	if len(reason) > record.LongText {
		return nil, protocol.Exceeded(protocol.CodeTooLarge, record.LongText, "reason: too long")
	}
	answer := &Answer{Request: *a, Decision: decision}
	if decision == protocol.Explain {
		return answer, nil
	}
	r := protocol.ApprovalResolvedData{
		Request: a.Request, Outcome: protocol.Allowed, Decision: decision, Option: option, Reason: reason,
	}
	var secret map[string][]string
	if r.Input, secret, err = recordedInput(a, d.Input, decision); err != nil {
		return nil, err
	}
	switch decision {
	case protocol.Deny, protocol.DenyStop:
		r.Outcome = protocol.Denied
	case protocol.AllowAlways:
		if r.Rule, err = newRule(st, a, &c); err != nil {
			return nil, err
		}
	}
	if raw, err := record.Encode(r); err != nil || len(raw) > record.MaxData {
		return nil, protocol.Exceeded(protocol.CodeTooLarge, record.MaxData, "input: too large")
	}
	answer.Resolution = resolve(st, &c.By, r)
	answer.Resolution.Hidden, answer.Resolution.secret = secret != nil, secret
	return answer, nil
}

// recordedInput returns the input of an answer as it is recorded, with its answers checked if it
// allows the request. If some answer a secret question, it also returns all of them as they are.
func recordedInput(
	a *protocol.Approval, in *protocol.ApprovalInput, decision protocol.Decision,
) (recorded *protocol.ApprovalInput, secret map[string][]string, err error) {
	if !decision.Allows() {
		return a.Recorded(in), nil, nil
	}
	answers, err := a.CheckAnswers(in)
	if err != nil || in == nil && answers == nil {
		return nil, nil, err
	}
	checked := protocol.ApprovalInput{}
	if in != nil {
		checked = *in
	}
	checked.Answers, checked.Secrets = answers, nil
	if _, any := a.HideSecrets(answers); any {
		secret = answers
	}
	return a.Recorded(&checked), secret, nil
}

// Pending returns a copy of a pending request; with no id, of the only one. A request that was decided
// has the code conflict, with the winner.
func (p *Approvals) Pending(st *protocol.State, request string) (*protocol.Approval, error) {
	if request == "" {
		switch len(st.Approvals) {
		case 0:
			return nil, protocol.Errorf(protocol.CodeNotFound, "no approval is pending")
		case 1:
			a := st.Approvals[0]
			return &a, nil
		}
		return nil, protocol.Errorf(protocol.CodeAmbiguous, "%d approvals are pending: name one", len(st.Approvals))
	}
	if pending := st.PendingApproval(request); pending != nil {
		a := *pending
		return &a, nil
	}
	r, err := p.find(request)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no request %.80q", request)
	}
	return nil, r.conflict()
}

// chooseDecision returns the decision of an answer and the option it named, if any.
func chooseDecision(a *protocol.Approval, d *protocol.ApproveData) (protocol.Decision, string, error) {
	i := slices.IndexFunc(a.Options, func(o protocol.Option) bool { return o.ID == d.Option })
	switch {
	case d.Option == "" && !d.Decision.Valid():
		return "", "", protocol.Errorf(protocol.CodeInvalidMessage,
			"decision: invalid value %.40q: want allow_once, allow_always, deny, deny_stop or explain", string(d.Decision))
	case d.Option == "":
		return d.Decision, "", nil
	case i < 0:
		return "", "", protocol.Errorf(protocol.CodeNotFound, "request %s has no option %.80q", a.Request, d.Option)
	}
	kind := a.Options[i].Kind
	if d.Decision != "" && d.Decision != kind {
		return "", "", protocol.Errorf(protocol.CodeInvalidMessage,
			"option %.80q means %s, not %s", d.Option, kind, d.Decision)
	}
	return kind, d.Option, nil
}

// checkInput refuses an edited patch or command that the agent would not take: it would apply its
// own, which no user approved.
func (c *Caller) checkInput(
	name string, pending *protocol.Approval, d protocol.Decision, in *protocol.ApprovalInput,
) error {
	switch {
	case in == nil:
		return nil
	case in.Patch != "" && !c.Agent.TakesPatch:
		return protocol.Errorf(protocol.CodeUnsupported,
			"the agent %s does not take edited patches: deny with the changes as reason", name)
	case in.Command == "" || pending.Command == in.Command:
		return nil
	case pending.Kind != protocol.ApproveCommand || !c.Agent.TakesCommand:
		return protocol.Errorf(protocol.CodeUnsupported,
			"the agent %s takes no edited command for this request: deny with the command as reason", name)
	case d == protocol.AllowAlways:
		return protocol.Errorf(protocol.CodeUnsupported, "an edited command cannot be allowed always: allow it once")
	}
	return nil
}

// CheckExplanation returns an error if the limits leave no room for a further explanation.
func CheckExplanation(st *protocol.State, l Limits) error {
	if record.Size(st.Approvals, l.Bytes) > l.Bytes-protocol.MaxEvent {
		return protocol.Exceeded(protocol.CodeTooLarge, l.Bytes,
			"the pending requests and their explanations are too large together: decide some")
	}
	return nil
}
