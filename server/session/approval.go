package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

// approvals are the agents that wait for requests, and recent resolutions; the store has all
// resolutions.
type approvals struct {
	waiters map[string][]*approvalWaiter // by request
	decided map[string]resolution        // by request; not yet durable
}

// A resolution is the stored outcome of a request.
type resolution struct {
	protocol.ApprovalResolvedData
	By   *protocol.Actor `json:"by,omitempty"`
	Turn string          `json:"turn,omitempty"` // of the request
}

// reset drops everything, after a failed commit.
func (p *approvals) reset() {
	p.waiters, p.decided = map[string][]*approvalWaiter{}, map[string]resolution{}
}

// resolution returns the resolution of a request, or nil when it has none.
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

// approve decides a pending request. The first decision wins; a later one gets a conflict error
// with the winner.
func (s *Session) approve(cmd *command, d *protocol.ApproveData) (any, error) {
	pending, err := s.pendingApproval(d)
	if err != nil {
		return nil, err
	}
	decision, option, err := chooseDecision(pending, d)
	if err != nil {
		return nil, err
	}
	if err := s.checkEdit(pending, decision, d.Input); err != nil {
		return nil, err
	}
	d.Reason = protocol.ValidText(d.Reason)
	if n := len(d.Reason); n > record.LongText {
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Limit: record.LongText, Message: "reason: too long"}
	}
	if decision == protocol.Explain {
		return nil, s.explain(cmd, *pending)
	}
	r := protocol.ApprovalResolvedData{
		Request:  pending.Request,
		Outcome:  protocol.Allowed,
		Decision: decision,
		Option:   option,
		Reason:   d.Reason,
		Input:    d.Input,
	}
	switch decision {
	case protocol.Deny, protocol.DenyStop:
		r.Outcome = protocol.Denied
	case protocol.AllowAlways:
		if pending.Subject() == "" || !pending.Offers(protocol.AllowAlways) {
			return nil, protocol.Errorf(
				protocol.CodeUnsupported,
				"a %s request cannot be allowed always: allow it once",
				pending.Kind,
			)
		}
		if s.state.RuleFor(pending) == nil {
			r.Rule = &protocol.Rule{
				ID:      NewID(idRule),
				Kind:    pending.Kind,
				Subject: pending.Subject(),
				Scope:   pending.Scope(),
				By:      cmd.by,
				At:      timestamp(),
			}
		}
	}
	if r.Rule != nil {
		if err := s.checkRule(r.Rule); err != nil {
			return nil, err
		}
	}
	if raw, err := record.Encode(r); err != nil || len(raw) > record.MaxData {
		return nil, &protocol.Error{
			Code:    protocol.CodeTooLarge,
			Limit:   record.MaxData,
			Message: "input: too large",
		}
	}
	s.resolve(pending.Request, cmd.by, r)
	s.queueReason(cmd, r)
	if r.Outcome == protocol.Allowed {
		if next, ok := s.decider().AfterPlan(pending); ok {
			s.setPolicy(next, cmd.by)
		}
	}
	if r.Rule != nil {
		s.applyRule(r.Rule)
	}
	if decision == protocol.DenyStop {
		s.stopTurn(protocol.ReasonDenied, &cmd.by, protocol.HoldDenyStop)
	}
	return protocol.ApproveResult{Request: r.Request, Outcome: r.Outcome, Decision: decision, Rule: r.Rule}, nil
}

// pendingApproval returns a copy of the pending request that a command names; with no name, of the
// only one.
func (s *Session) pendingApproval(d *protocol.ApproveData) (*protocol.Approval, error) {
	if d.Request == "" {
		switch len(s.state.Approvals) {
		case 0:
			return nil, protocol.Errorf(protocol.CodeNotFound, "no approval is pending")
		case 1:
			a := s.state.Approvals[0]
			return &a, nil
		}
		return nil, protocol.Errorf(
			protocol.CodeAmbiguous,
			"%d approvals are pending: name one",
			len(s.state.Approvals),
		)
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

// conflict returns the error for a decision that came too late.
func (r *resolution) conflict() error {
	w := &protocol.Winner{Outcome: r.Outcome, Decision: r.Decision, Option: r.Option}
	by := ""
	if r.By != nil {
		w.By = *r.By
		by = " by " + r.By.Name
	}
	return &protocol.Error{Code: protocol.CodeConflict, Winner: w, Message: "already " + string(r.Outcome) + by}
}

// chooseDecision returns the decision of an answer and the option it named, if any.
func chooseDecision(p *protocol.Approval, d *protocol.ApproveData) (protocol.Decision, string, error) {
	if d.Option == "" {
		if !d.Decision.Valid() {
			return "", "", protocol.Errorf(
				protocol.CodeInvalidMessage,
				"decision: %.40q is none of allow_once, allow_always, deny, deny_stop, explain",
				string(d.Decision),
			)
		}
		return d.Decision, "", nil
	}
	for _, o := range p.Options {
		if o.ID == d.Option {
			if d.Decision != "" && d.Decision != o.Kind {
				return "", "", protocol.Errorf(
					protocol.CodeInvalidMessage,
					"option %.80q means %s, not %s",
					d.Option,
					o.Kind,
					d.Decision,
				)
			}
			return o.Kind, o.ID, nil
		}
	}
	return "", "", protocol.Errorf(protocol.CodeNotFound, "request %s has no option %.80q", p.Request, d.Option)
}

// resolve records the resolution of a request, stores it, and delivers the verdict to the agent
// once it is durable.
func (s *Session) resolve(request string, by protocol.Actor, r protocol.ApprovalResolvedData) {
	var actor *protocol.Actor
	if by != (protocol.Actor{}) {
		actor = &by
	}
	var task string
	if p := s.state.PendingApproval(request); p != nil {
		task = p.Task
	}
	raw, err := record.Encode(r)
	if err == nil {
		_, err = s.append(s.turnID(), &entry{typ: protocol.ApprovalResolved, task: task, by: actor, data: raw})
	}
	if err != nil {
		s.logger().Error("record decision", "err", err)
		return
	}
	s.published.stale = true
	res := resolution{r, actor, s.turnID()}
	s.approvals.decided[request] = res
	b := s.nextBatch()
	b.Decisions = append(b.Decisions, Decision{Request: request, Data: protocol.MustEncode(res)})
	waiters := s.approvals.waiters[request]
	delete(s.approvals.waiters, request)
	s.afterCommit(func(failed error) {
		for _, w := range waiters {
			w.deliver(failed, &res)
		}
		if failed == nil {
			delete(s.approvals.decided, request) // the store has it
		}
	})
}

// queueReason queues the reason of a decision as the next message, when the agent does not receive
// reasons with verdicts.
func (s *Session) queueReason(cmd *command, r protocol.ApprovalResolvedData) {
	if r.Reason == "" || s.capabilities.TakesReason {
		return
	}
	m := protocol.Message{MessageID: NewID(idMessage), Text: r.Reason, By: &cmd.by}
	added, _, err := queue.Add(s.state, m, true, time.Now(), s.hub.settings().Limits.queue())
	if err != nil {
		s.record(protocol.Notice, &cmd.by, protocol.NoticeData{
			Level: protocol.LevelWarning, Code: protocol.CodeOf(err),
			Message: "the agent does not get this reason, because the queue is full: " + r.Reason,
		})
		return
	}
	s.recordAll([]record.Event{added})
}

// explain asks the agent to explain a request, which stays pending.
func (s *Session) explain(cmd *command, p protocol.Approval) error {
	e, ok := s.agent.(agent.Explainer)
	if !ok {
		return s.unsupported("explain")
	}
	if limit := s.hub.settings().Limits.Bytes; record.Size(s.state.Approvals, limit) > limit-protocol.MaxEvent {
		return &protocol.Error{
			Code: protocol.CodeTooLarge, Limit: limit,
			Message: "the pending requests and their explanations are too large together: decide some",
		}
	}
	s.runAsync(cmd, func(ctx context.Context) (any, error) { return e.Explain(ctx, p) }, func(result any) (any, error) {
		if s.state.PendingApproval(p.Request) == nil {
			if r, err := s.resolution(p.Request); err == nil && r != nil {
				return nil, r.conflict()
			}
		}
		text := protocol.SplitText(protocol.ValidText(result.(string)), protocol.MaxText)[0]
		s.recordIn(
			p.Turn,
			protocol.ApprovalExplained,
			&cmd.by,
			protocol.ApprovalExplainedData{Request: p.Request, Text: text},
		)
		return protocol.ApproveResult{Request: p.Request, Decision: protocol.Explain}, nil
	})
	return errAnswerLater
}

// cancelApprovals cancels every pending request.
func (s *Session) cancelApprovals() {
	for _, p := range slices.Clone(s.state.Approvals) {
		s.resolve(
			p.Request,
			protocol.Actor{},
			protocol.ApprovalResolvedData{Request: p.Request, Outcome: protocol.Cancelled},
		)
	}
}

// expireApprovals expires pending requests past their deadline.
func (s *Session) expireApprovals(now time.Time) {
	for _, p := range slices.Clone(s.state.Approvals) {
		if p.Expires != nil && !now.Before(*p.Expires) {
			s.resolve(
				p.Request,
				protocol.Actor{},
				protocol.ApprovalResolvedData{Request: p.Request, Outcome: protocol.Expired},
			)
		}
	}
}
