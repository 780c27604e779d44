package session

import (
	"errors"
	"slices"

	"agentctl/protocol"
)

// An ask is an agent that waits for a verdict; verdict has room for it.
type ask struct {
	approval protocol.Approval
	verdict  chan Verdict
}

// ask records a request for a decision, or joins the one of that id.
func (s *Session) ask(q *ask) {
	if s.turn.reason != "" { // interrupted meanwhile: nobody is bothered
		q.give(nil, &resolution{ApprovalResolvedData: protocol.ApprovalResolvedData{Outcome: protocol.Cancelled}})
		return
	}
	request, err := s.request(q)
	if err != nil {
		s.hub.log.Error("record request", "session", s.id, "err", err)
		q.give(nil, &resolution{ApprovalResolvedData: protocol.ApprovalResolvedData{
			Outcome: protocol.Denied, Reason: "the request could not be recorded",
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
	}
}

// request records what an agent asks and returns it; nil when it was asked before in this turn.
func (s *Session) request(q *ask) (*protocol.Approval, error) {
	a := q.approval
	a.Request, a.Tool, a.Task, a.Input = fitID(a.Request), fitID(a.Tool), fitID(a.Task), fitJSON(a.Input)
	var blobs []Blob
	a.Content = slices.Clone(a.Content)
	for i := range a.Content {
		blobs = append(blobs, fitContent(&a.Content[i])...)
	}
	if a.Request != "" {
		if s.state.PendingApproval(a.Request) != nil {
			s.approvals.asking[a.Request] = append(s.approvals.asking[a.Request], q)
			return nil, nil
		}
		r, err := s.resolution(a.Request)
		switch {
		case err != nil:
			return nil, err
		case r == nil:
		case r.Turn == s.turn.id:
			s.then(func(failed error) { q.give(failed, r) })
			return nil, nil
		default: // what was decided then says nothing about now
			a.Request = ""
		}
	}
	if a.Request == "" {
		a.Request = NewID(idRequest)
	}
	s.complete(&a)
	entries, err := whole(entry{typ: protocol.ApprovalRequested, task: a.Task, blobs: blobs}, a)
	if err == nil && entries[0].typ != protocol.ApprovalRequested {
		err = errors.New("request too large")
	}
	if err == nil {
		_, err = s.append(s.turn.id, entries[0])
	}
	if err != nil {
		return nil, err
	}
	s.changed = true
	s.approvals.asking[a.Request] = []*ask{q}
	return &a, nil
}

// unask cancels the request of an agent that does not wait any more, unless somebody else does.
func (s *Session) unask(q *ask) {
	for request, asking := range s.approvals.asking {
		i := slices.Index(asking, q)
		if i < 0 {
			continue
		}
		s.approvals.asking[request] = slices.Delete(asking, i, i+1)
		if len(asking) == 1 {
			s.resolve(request, protocol.Actor{}, protocol.ApprovalResolvedData{Request: request, Outcome: protocol.Cancelled})
		}
		return
	}
}

// give hands the agent its verdict unless the commit failed: then the turn is over. An option that the session added means
// nothing to the agent.
func (q *ask) give(failed error, r *resolution) {
	if failed != nil {
		return
	}
	v := Verdict{Outcome: r.Outcome, Decision: r.Decision, Reason: r.Reason, Input: r.Input, By: r.By}
	if hasOption(q.approval.Options, r.Option) {
		v.Option = r.Option
	}
	q.verdict <- v
}

func hasOption(options []protocol.Option, id string) bool {
	return slices.ContainsFunc(options, func(o protocol.Option) bool { return o.ID == id })
}

// complete fills in what the agent left open: when it was asked, until when, and every decision it has no option for. Options
// that could not be carried out are taken away.
func (s *Session) complete(a *protocol.Approval) {
	a.Asked = stamp()
	a.Expires, a.Explained = nil, nil
	a.Editable = a.Kind == protocol.ApprovePatch && a.Patch != "" && s.traits.TakesPatch
	if a.CWD == "" {
		a.CWD = s.state.CWD
	}
	if d := s.hub.cfg.ApprovalTimeout; d > 0 {
		at := a.Asked.Add(d)
		a.Expires = &at
	}
	scope := scopeOf(a)
	_, explains := s.agent.(Explainer)
	own := []protocol.Option{
		{Kind: protocol.AllowOnce, Label: "Allow once"},
		{Kind: protocol.AllowAlways, Label: "Always allow"},
		{Kind: protocol.Deny, Label: "Deny"},
		{Kind: protocol.DenyStop, Label: "Deny and stop"},
		{Kind: protocol.Explain, Label: "Explain"},
	}
	if a.Kind == protocol.ApproveQuestion {
		own[0].Label, own[2].Label = "Answer", "Do not answer"
	}
	var options []protocol.Option
	has := map[protocol.Decision]bool{}
	offer := func(o protocol.Option) {
		if !o.Kind.Valid() || o.Kind == protocol.AllowAlways && scope == "" || o.Kind == protocol.Explain && !explains || hasOption(options, o.ID) {
			return
		}
		if o.Kind == protocol.AllowAlways {
			o.Scope = scope
		}
		has[o.Kind] = true
		options = append(options, o)
	}
	for _, o := range a.Options {
		offer(o)
	}
	for _, o := range own {
		if has[o.Kind] {
			continue
		}
		for o.ID = string(o.Kind); hasOption(options, o.ID); {
			o.ID = "session_" + o.ID
		}
		offer(o)
	}
	a.Options = options
}
