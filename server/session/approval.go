package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
)

// approvals knows which agents wait for which requests, and how late requests were resolved; the store knows of all.
type approvals struct {
	asking  map[string][]*ask
	decided map[string]resolution
}

// A resolution is how a request ended and by whom, as kept in the store.
type resolution struct {
	protocol.ApprovalResolvedData
	By   *protocol.Actor `json:"by,omitempty"`
	Turn string          `json:"turn,omitempty"` // in which it was asked
}

// reset begins anew: a failed commit may not have kept what was known.
func (p *approvals) reset() {
	p.asking, p.decided = map[string][]*ask{}, map[string]resolution{}
}

// resolution returns how a request ended, or nil when it is not known to have ended.
func (s *Session) resolution(request string) (*resolution, error) {
	if r, ok := s.approvals.decided[request]; ok {
		return &r, nil
	}
	raw, err := s.hub.cfg.Store.Decision(s.background, s.id, request)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	r := new(resolution)
	return r, json.Unmarshal(raw, r)
}

// approve decides a pending request. The first decision wins: a later one gets conflict with the winner.
func (s *Session) approve(a *action, d *protocol.ApproveData) (any, error) {
	pending, err := s.requestOf(d)
	if err != nil {
		return nil, err
	}
	decision, option, err := choose(pending, d)
	if err != nil {
		return nil, err
	}
	if d.Input != nil && d.Input.Patch != "" && !s.traits.TakesPatch {
		// It would apply its own: what nobody allowed must not happen.
		return nil, protocol.Errorf(protocol.CodeUnsupported, "the agent %s cannot take an edited patch: deny it and say what to change", s.state.Agent)
	}
	d.Reason = protocol.ValidText(d.Reason)
	if n := len(d.Reason); n > longText {
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Limit: longText, Message: "reason: too long"}
	}
	if decision == protocol.Explain {
		return nil, s.explain(a, *pending)
	}
	r := protocol.ApprovalResolvedData{
		Request: pending.Request, Outcome: protocol.Allowed, Decision: decision, Option: option, Reason: d.Reason, Input: d.Input,
	}
	switch decision {
	case protocol.Deny, protocol.DenyStop:
		r.Outcome = protocol.Denied
	case protocol.AllowAlways:
		scope, sub := scopeOf(pending), pending.Subject()
		if scope == "" {
			return nil, protocol.Errorf(protocol.CodeUnsupported, "a %s request cannot be allowed always: allow it once", pending.Kind)
		}
		if s.state.FindRule(pending.Kind, sub) == nil {
			r.Rule = &protocol.Rule{ID: NewID(idRule), Kind: pending.Kind, Subject: sub, Scope: scope, By: a.by, At: stamp()}
		}
	}
	if raw, err := encode(r); err != nil || len(raw) > protocol.MaxEvent-envelope {
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Limit: protocol.MaxEvent - envelope, Message: "input: too large"}
	}
	s.resolve(pending.Request, a.by, r)
	s.passOn(a, r)
	if r.Rule != nil {
		s.applyRule(r.Rule)
	}
	if decision == protocol.DenyStop {
		s.stopTurn(protocol.ReasonDenied, &a.by, protocol.HoldDenyStop)
	}
	return protocol.ApproveResult{Request: r.Request, Outcome: r.Outcome, Decision: decision, Rule: r.Rule}, nil
}

// requestOf returns a copy of the pending request that is meant.
func (s *Session) requestOf(d *protocol.ApproveData) (*protocol.Approval, error) {
	if d.Request == "" {
		switch len(s.state.Approvals) {
		case 0:
			return nil, protocol.Errorf(protocol.CodeNotFound, "nothing waits for an approval")
		case 1:
			a := s.state.Approvals[0]
			return &a, nil
		}
		return nil, protocol.Errorf(protocol.CodeAmbiguous, "%d requests wait for an approval: name one", len(s.state.Approvals))
	}
	if p := s.state.PendingApproval(d.Request); p != nil {
		a := *p
		return &a, nil
	}
	r, err := s.resolution(d.Request)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no request %.80q", d.Request)
	}
	return nil, r.conflict()
}

// conflict tells a loser who won and with what.
func (r *resolution) conflict() error {
	w := &protocol.Winner{Outcome: r.Outcome, Decision: r.Decision, Option: r.Option}
	who := ""
	if r.By != nil {
		w.By = *r.By
		who = " by " + r.By.Name
	}
	return &protocol.Error{Code: protocol.CodeConflict, Winner: w, Message: "already " + string(r.Outcome) + who}
}

// choose finds the decision that an answer stands for, and the option it named.
func choose(p *protocol.Approval, d *protocol.ApproveData) (protocol.Decision, string, error) {
	if d.Option == "" {
		if !d.Decision.Valid() {
			return "", "", protocol.Errorf(protocol.CodeInvalidMessage, "decision: %.40q is none of allow_once, allow_always, deny, deny_stop, explain", string(d.Decision))
		}
		return d.Decision, "", nil
	}
	for _, o := range p.Options {
		if o.ID == d.Option {
			if d.Decision != "" && d.Decision != o.Kind {
				return "", "", protocol.Errorf(protocol.CodeInvalidMessage, "option %.80q means %s, not %s", d.Option, o.Kind, d.Decision)
			}
			return o.Kind, o.ID, nil
		}
	}
	return "", "", protocol.Errorf(protocol.CodeNotFound, "request %s has no option %.80q", p.Request, d.Option)
}

// resolve records how a request ended, keeps it for good and gives the agent its verdict once it is durable.
func (s *Session) resolve(request string, by protocol.Actor, r protocol.ApprovalResolvedData) {
	var who *protocol.Actor
	if by != (protocol.Actor{}) {
		who = &by
	}
	var task string
	if p := s.state.PendingApproval(request); p != nil {
		task = p.Task
	}
	raw, err := encode(r)
	if err == nil {
		_, err = s.append(s.turnID(), entry{typ: protocol.ApprovalResolved, task: task, by: who, data: raw})
	}
	if err != nil {
		s.hub.log.Error("record decision", "session", s.id, "err", err)
		return
	}
	s.changed = true
	res := resolution{r, who, s.turnID()}
	s.approvals.decided[request] = res
	b := s.pending()
	b.Decisions = append(b.Decisions, Decision{Request: request, Data: protocol.MustEncode(res)})
	asking := s.approvals.asking[request]
	delete(s.approvals.asking, request)
	s.then(func(failed error) {
		for _, q := range asking {
			q.give(failed, &res)
		}
		if failed == nil {
			delete(s.approvals.decided, request) // the store knows now
		}
	})
}

// passOn sends the words of a decision as the next message, where the agent cannot hear them otherwise.
func (s *Session) passOn(a *action, r protocol.ApprovalResolvedData) {
	if r.Reason == "" || s.traits.TakesReason {
		return
	}
	front := 0
	at := stamp()
	m := protocol.Message{MessageID: NewID(idMessage), Text: r.Reason, QueuedAt: &at, By: &a.by}
	s.record(protocol.QueueAdded, &a.by, protocol.QueueAddedData{Message: m, Index: &front})
}

// explain asks the agent why it asks; the request stays pending.
func (s *Session) explain(a *action, p protocol.Approval) error {
	e, ok := s.agent.(Explainer)
	if !ok {
		return protocol.Errorf(protocol.CodeUnsupported, "the agent %s cannot explain", s.state.Agent)
	}
	s.aside(a, func(ctx context.Context) (any, error) { return e.Explain(ctx, p) }, func(result any) (any, error) {
		if s.state.PendingApproval(p.Request) == nil {
			if r, err := s.resolution(p.Request); err == nil && r != nil {
				return nil, r.conflict()
			}
		}
		text := protocol.SplitText(protocol.ValidText(result.(string)), protocol.MaxText)[0]
		s.recordIn(p.Turn, protocol.ApprovalExplained, &a.by, protocol.ApprovalExplainedData{Request: p.Request, Text: text})
		return protocol.ApproveResult{Request: p.Request, Decision: protocol.Explain}, nil
	})
	return errLater
}

// cancelApprovals ends every pending request with its turn.
func (s *Session) cancelApprovals() {
	for _, p := range slices.Clone(s.state.Approvals) {
		s.resolve(p.Request, protocol.Actor{}, protocol.ApprovalResolvedData{Request: p.Request, Outcome: protocol.Cancelled})
	}
}

// expireApprovals ends the requests whose time is over.
func (s *Session) expireApprovals(now time.Time) {
	for _, p := range slices.Clone(s.state.Approvals) {
		if p.Expires != nil && !now.Before(*p.Expires) {
			s.resolve(p.Request, protocol.Actor{}, protocol.ApprovalResolvedData{Request: p.Request, Outcome: protocol.Expired})
		}
	}
}
