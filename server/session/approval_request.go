package session

import (
	"errors"
	"slices"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/session/record"
)

// An approvalWaiter is an agent that waits for the verdict on a request. The channel has capacity
// 1.
type approvalWaiter struct {
	approval protocol.Approval
	noRule   bool        // no rule can tell all that it changes
	call     policy.Call // what a policy knows of it
	verdict  chan agent.Verdict
}

// handleApprovalRequest records a request, or adds the agent to the waiters of a known one. A rule
// may allow it at once, else a policy may decide it.
func (s *Session) handleApprovalRequest(w *approvalWaiter) {
	if s.turn.reason != "" { // interrupted meanwhile
		w.deliver(nil, &resolution{ApprovalResolvedData: protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}})
		return
	}
	request, err := s.recordApprovalRequest(w)
	if err != nil {
		s.logger().Error("record request", "err", err)
		w.deliver(nil, &resolution{ApprovalResolvedData: protocol.ApprovalResolvedData{
			Outcome: protocol.Denied, Reason: refusedRequest(err),
		}})
		return
	}
	if request == nil {
		return
	}
	if rule := s.state.RuleFor(request); rule != nil {
		s.resolve(request.Request, rule.By, protocol.ApprovalResolvedData{
			Request: request.Request, Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: rule.ID,
		})
		return
	}
	s.decideByPolicy(request.Request, &w.call)
}

var errTooManyRequests = errors.New("too many requests are pending")

// refusedRequest returns the reason that the agent gets for a request that was not recorded.
func refusedRequest(err error) string {
	if errors.Is(err, errTooManyRequests) {
		return "too many requests are pending: ask again when some are decided"
	}
	return "the request could not be recorded"
}

// recordApprovalRequest records a request and returns it. It returns nil for a request that this
// turn has made before.
func (s *Session) recordApprovalRequest(w *approvalWaiter) (*protocol.Approval, error) {
	a := w.approval
	a.Request, a.Tool, a.Task = sanitizeID(a.Request), sanitizeID(a.Tool), sanitizeID(a.Task)
	a.Input = sanitizeJSON(a.Input)
	var blobs []Blob
	a.Content = slices.Clone(a.Content)
	blobs = append(blobs, sanitizeContents(a.Content)...)
	if a.Request != "" {
		if s.state.PendingApproval(a.Request) != nil {
			s.approvals.waiters[a.Request] = append(s.approvals.waiters[a.Request], w)
			return nil, nil
		}
		r, err := s.resolution(a.Request)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
		case r.Turn == s.turn.id:
			s.afterCommit(func(failed error) { w.deliver(failed, r) })
			return nil, nil
		default: // the id of an earlier turn's request: a new request
			a.Request = ""
		}
	}
	if a.Request == "" {
		a.Request = NewID(idRequest)
	}
	s.completeApproval(&a, w.noRule)
	a.ApprovalContext = protocol.ApprovalContext{}
	if d := s.decider(); d.Judge(&w.call).Action != policy.AskUser && s.state.RuleFor(&a) == nil {
		a.Policy = d.Label()
	}
	if by := s.state.Turn.Message.By; by != nil && by.AgentSession() != "" {
		a.AskedBy = by
	}
	if !s.roomForRequest(&a) {
		return nil, errTooManyRequests
	}
	entries, err := encodeEntry(entry{typ: protocol.ApprovalRequested, task: a.Task, blobs: blobs}, a)
	if err == nil && entries[0].typ != protocol.ApprovalRequested {
		err = errors.New("request too large")
	}
	if err == nil {
		_, err = s.append(s.turn.id, &entries[0])
	}
	if err != nil {
		return nil, err
	}
	s.published.stale = true
	s.approvals.waiters[a.Request] = []*approvalWaiter{w}
	return &a, nil
}

// withdrawApprovalRequest removes a waiter and cancels its request, unless another waiter remains.
func (s *Session) withdrawApprovalRequest(w *approvalWaiter) {
	for request, waiters := range s.approvals.waiters {
		i := slices.Index(waiters, w)
		if i < 0 {
			continue
		}
		s.approvals.waiters[request] = slices.Delete(waiters, i, i+1)
		if len(waiters) == 1 {
			s.resolve(
				request,
				protocol.Actor{},
				protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Cancelled},
			)
		}
		return
	}
}

// deliver sends the verdict to the agent, unless the commit failed: then the turn is over. Ids of
// options that the session added are left out, because the agent does not know them.
func (w *approvalWaiter) deliver(failed error, r *resolution) {
	if failed != nil {
		return
	}
	v := agent.Verdict{Outcome: r.Outcome, Decision: r.Decision, Reason: r.Reason, Input: r.Input, By: r.By}
	if hasOption(w.approval.Options, r.Option) {
		v.Option = r.Option
	}
	w.verdict <- v
}

func hasOption(options []protocol.Option, id string) bool {
	return slices.ContainsFunc(options, func(o protocol.Option) bool { return o.ID == id })
}

// maxOptions is the room in bytes for the options that the session adds.
const maxOptions = 8 << 10

// completeApproval sets the times of a request, its working directory, and an option for every
// decision that the agent offers none for. Options that cannot be carried out are removed: always
// needs a rule for the request, and a request that fits an event without being shortened.
func (s *Session) completeApproval(a *protocol.Approval, noRule bool) {
	a.Asked = timestamp()
	a.Expires, a.Explained = nil, nil
	a.Editable = a.Kind == protocol.ApprovePatch && a.Patch != "" && s.capabilities.TakesPatch ||
		a.Kind == protocol.ApproveCommand && a.Command != "" && s.capabilities.TakesCommand
	if a.CWD == "" {
		a.CWD = s.state.CWD
	}
	if d := s.decider().Timeout(s.hub.settings().ApprovalTimeout); d > 0 {
		at := a.Asked.Add(d)
		a.Expires = &at
	}
	scope := ""
	if raw, err := record.Encode(a); err == nil && len(raw) < record.MaxData-maxOptions && !noRule {
		scope = a.Scope()
	}
	_, explains := s.agent.(agent.Explainer)
	defaults := []protocol.Option{
		{Kind: protocol.AllowOnce, Label: "Allow once"},
		{Kind: protocol.AllowAlways, Label: "Always allow"},
		{Kind: protocol.Deny, Label: "Deny"},
		{Kind: protocol.DenyStop, Label: "Deny and stop"},
		{Kind: protocol.Explain, Label: "Explain"},
	}
	if a.Kind == protocol.ApproveQuestion {
		defaults[0].Label, defaults[2].Label = "Answer", "Skip"
	}
	var options []protocol.Option
	has := map[protocol.Decision]bool{}
	add := func(o protocol.Option) {
		if !o.Kind.Valid() || o.Kind == protocol.AllowAlways && scope == "" ||
			o.Kind == protocol.Explain && !explains ||
			hasOption(options, o.ID) {
			return
		}
		if o.Kind == protocol.AllowAlways {
			o.Scope = scope
		}
		has[o.Kind] = true
		options = append(options, o)
	}
	for _, o := range a.Options {
		add(o)
	}
	for _, o := range defaults {
		if has[o.Kind] {
			continue
		}
		for o.ID = string(o.Kind); hasOption(options, o.ID); {
			o.ID = "session_" + o.ID
		}
		add(o)
	}
	a.Options = options
}
