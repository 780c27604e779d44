package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session/approval"
	"agentctl/server/session/output"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

func init() {
	handlers[protocol.DoApprove] = handler((*Session).approve)
	handlers[protocol.DoOpenPage] = handler(func(s *Session, _ *command, d *protocol.OpenPageData) (any, error) {
		return s.approvals.Page(s.state, d.Request)
	})
	handlers[protocol.DoRulesList] = handler(func(s *Session, _ *command, _ *protocol.Empty) (any, error) {
		return protocol.RulesResult{Rules: append([]protocol.Rule{}, s.state.Rules...)}, nil
	})
	handlers[protocol.DoRulesRevoke] = handler((*Session).rulesRevoke)
}

// storedDecisions returns a function that reads the stored resolution of a session's request, or
// nil.
func storedDecisions(ctx context.Context, store Store, id string) func(request string) ([]byte, error) {
	return func(request string) ([]byte, error) {
		raw, err := store.Decision(ctx, id, request)
		if errors.Is(err, eventlog.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read decision: %w", err)
		}
		return raw, nil
	}
}

// handleApprovalRequest records a request, or adds the agent to the waiters of a known one. A rule or
// the policy may resolve it immediately.
func (s *Session) handleApprovalRequest(w *approval.Waiter) {
	ofSubAgent := w.Request.SubAgent != nil
	if ofSubAgent && s.exit.closing(s.state) || !ofSubAgent && s.turn.reason != "" { // interrupted since the agent asked
		w.Cancel()
		return
	}
	settings, decider := s.hub.settings(), s.decider()
	_, explains := s.slot.Agent().(agent.Explainer)
	sanitized, blobs := output.Request(w.Request)
	a, decided, err := s.approvals.Request(s.state, w, sanitized, approval.Terms{
		Explains: explains, Agent: s.slot.Capabilities(),
		Refused: func(a *protocol.Approval) string { return s.confinement.Refusal(&s.spec, a) },
		Policy:  decider, Timeout: decider.Timeout(settings.ApprovalTimeout), Limits: settings.Limits.approvals(),
		Now: time.Now(), ID: NewID(idRequest),
	})
	if err == nil && a != nil {
		var en eventlog.Entry
		if en, err = requestEntry(s.recorder.Turn(), a, blobs); err == nil {
			_, err = s.recorder.Append(&en)
		}
	}
	if err == nil && a != nil && ofSubAgent {
		asked := *a
		s.journal.AfterCommit(func(failed error) {
			if failed == nil {
				w.Asked <- asked
			}
		})
	}
	switch {
	case err != nil:
		s.logger().Error("record request", "err", err)
		w.Refuse(err)
	case decided != nil:
		s.journal.AfterCommit(func(failed error) {
			if failed == nil {
				w.Deliver(decided)
			}
		})
	case a != nil:
		if r, ok := s.approvals.Asked(s.state, a, w, decider); ok {
			s.resolve(r)
		}
		if note := s.approvals.Note(w, decider); note != "" {
			s.recorder.Record(protocol.Notice, nil, protocol.NoticeData{Level: protocol.LevelInfo, Message: note})
		}
	}
}

// requestEntry returns the entry of a request. Long texts of it are moved to blobs.
func requestEntry(turn string, a *protocol.Approval, blobs []eventlog.Blob) (eventlog.Entry, error) {
	en, err := output.Encode(
		eventlog.Entry{Type: protocol.ApprovalRequested, Turn: turn, Task: a.Task, Blobs: blobs}, a,
	)
	if err == nil && en.Type != protocol.ApprovalRequested {
		err = errors.New("request too large")
	}
	return en, err
}

// resolve records resolutions of requests, stores them, and delivers the verdicts once they are
// durable.
func (s *Session) resolve(list ...approval.Resolution) {
	for _, r := range list {
		if a := s.state.PendingApproval(r.Request); a != nil && s.turn != nil && r.Turn == s.turn.id && r.Task == "" &&
			(a.SubAgent == nil || s.state.Mirrors(a)) {
			s.turn.denial.Resolved(r.Outcome, a.Tool)
		}
		raw, err := record.Encode(r.ApprovalResolvedData)
		if err == nil {
			_, err = s.recorder.Append(&eventlog.Entry{
				Type: protocol.ApprovalResolved, Turn: r.Turn, Task: r.Task, By: r.By, Data: raw,
			})
		}
		if err != nil {
			s.logger().Error("record decision", "err", err)
			continue
		}
		b := s.journal.NextBatch()
		b.Decisions = append(b.Decisions, eventlog.Decision{Request: r.Request, Data: r.Encode()})
		s.journal.AfterCommit(s.approvals.Resolved(r))
	}
}

// approve decides a pending request, or lets the agent explain it.
func (s *Session) approve(cmd *command, d *protocol.ApproveData) (any, error) {
	a, err := s.approvals.Answer(s.state, approval.Caller{
		By: cmd.By, Now: time.Now(), RuleID: NewID(idRule), Limits: s.hub.settings().Limits.approvals(),
		Agent: s.slot.Capabilities(),
	}, d)
	if err != nil {
		return nil, err
	}
	if a.Decision == protocol.Explain {
		return nil, s.explain(cmd, a.Request)
	}
	r := a.Resolution
	s.resolve(r)
	if r.Reason != "" && !s.slot.Capabilities().TakesReason { // the agent does not receive it with its verdict
		limits := s.hub.settings().Limits.queue()
		s.recorder.RecordAll(reasonEvent(s.state, &cmd.By, r.Reason, limits))
	}
	if r.Outcome == protocol.Allowed {
		if next, ok := s.decider().AfterPlan(&a.Request); ok {
			s.setPolicy(next, cmd.By)
		}
	}
	if r.Rule != nil {
		s.resolve(approval.AllowedBy(s.state, r.Rule)...)
	}
	if r.Decision == protocol.DenyStop {
		if sub := a.Request.SubAgent; sub != nil {
			stopSubAgent(s.hub, sub.Session, cmd.By)
		}
		if s.turn != nil {
			s.stopTurn(protocol.ReasonDenied, &cmd.By, protocol.HoldDenyStop)
		}
	}
	return protocol.ApproveResult{Request: r.Request, Outcome: r.Outcome, Decision: r.Decision, Rule: r.Rule}, nil
}

// reasonEvent returns the event that queues the reason of a decision as the next message, or reports that
// the queue is full.
func reasonEvent(st *protocol.State, by *protocol.Actor, reason string, limits queue.Limits) record.Event {
	m := protocol.Message{MessageID: NewID(idMessage), Text: reason, By: by}
	if err := limits.Check(st, &m); err != nil {
		return record.Event{Type: protocol.Notice, By: by, Data: protocol.NoticeData{
			Level: protocol.LevelWarning, Code: protocol.CodeOf(err),
			Message: "the agent does not get this reason, because the queue is full: " + reason,
		}}
	}
	added, _ := queue.Add(st, m, true, time.Now())
	return added
}

// explain asks the agent to explain a request, which stays pending.
func (s *Session) explain(cmd *command, a protocol.Approval) error {
	e, ok := s.slot.Agent().(agent.Explainer)
	if !ok {
		return unsupported(s.state.Agent, "explain")
	}
	if err := approval.CheckExplanation(s.state, s.hub.settings().Limits.approvals()); err != nil {
		return err
	}
	return runAsync(s, cmd, s.slot.Preparation(), func(ctx context.Context) (string, error) {
		return e.Explain(ctx, a)
	}, unlessFailed(func(text string) (any, error) {
		if s.state.PendingApproval(a.Request) == nil {
			if err := s.approvals.Conflict(a.Request); err != nil {
				return nil, err
			}
		}
		text = protocol.SplitText(protocol.ValidText(text), protocol.MaxText)[0]
		explained := protocol.ApprovalExplainedData{Request: a.Request, Text: text}
		s.recorder.RecordIn(a.Turn, protocol.ApprovalExplained, &cmd.By, explained)
		return protocol.ApproveResult{Request: a.Request, Decision: protocol.Explain}, nil
	}))
}

func (s *Session) rulesRevoke(cmd *command, d *protocol.RulesRevokeData) (any, error) {
	e, err := approval.Revoke(s.state, &cmd.By, d.Rule)
	if err != nil {
		return nil, err
	}
	s.recorder.RecordAll(e)
	return protocol.Empty{}, nil
}

// Pending returns the pending requests of a session, as they are visible.
func (h *Hub) Pending(ctx context.Context, id string) ([]protocol.Approval, error) {
	var list []protocol.Approval
	err := h.await(ctx, id, func(s *Session, done func(error)) {
		s.journal.Wait(eventlog.Waiter{Refuse: done, Done: func(failed error) {
			list = slices.Clone(s.state.Approvals)
			done(failed)
		}})
	})
	if err != nil {
		return nil, err // the session may still set the list
	}
	return list, nil
}

// Decide decides a request by its digest: if the pending request with that id has another digest,
// nothing is decided and the error has the code conflict. It returns when the decision is visible.
func (h *Hub) Decide(ctx context.Context, id, digest string, d *protocol.ApproveData, by protocol.Actor) error {
	return h.await(ctx, id, func(s *Session, done func(error)) {
		if a := s.state.PendingApproval(d.Request); a != nil {
			if _, now := approval.Digest(a); now != digest {
				done(protocol.Errorf(protocol.CodeConflict, "the request is not the one that was shown"))
				return
			}
		}
		s.do(ownCommand(protocol.DoApprove, d, by, done))
	})
}
