package myagent

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// message sends what the client says; while a turn runs it is queued, and the client is told by a notice.
func (s *server) message(c *call) {
	said := words(c.Content)
	if strings.TrimSpace(said) == "" {
		s.invalid(c, "content is missing")
		return
	}
	s.in(c, func(f *follow) {
		data := protocol.SendData{Text: said, ClientMessageID: c.meta.str("client_message_id")}
		s.do(c, protocol.DoSend, f.session, data, s.accepted)
	})
}

// accepted remembers a message as this client's.
func (s *server) accepted(result json.RawMessage) {
	var r protocol.SendResult
	if json.Unmarshal(result, &r) == nil {
		s.mine(r.MessageID)
	}
}

// solve runs given tasks without planning.
func (s *server) solve(c *call) {
	o := object(c.Content)
	tasks := nativeTasks(o["tasks"])
	if len(tasks) == 0 {
		s.invalid(c, "content.tasks is missing")
		return
	}
	s.in(c, func(f *follow) {
		data := protocol.PlanRunData{Tasks: tasks, Question: o.str("question"), Summary: o.str("plan_summary")}
		s.do(c, protocol.DoPlanRun, f.session, data, s.accepted)
	})
}

// cancel interrupts the turn under way.
func (s *server) cancel(c *call) {
	s.in(c, func(f *follow) {
		data := protocol.InterruptData{Queue: c.meta.str("queue"), Turn: c.meta.str("turn_id")}
		if data.Turn == "" && f.state.Turn != nil {
			data.Turn = f.state.Turn.Turn
		}
		s.do(c, protocol.DoInterrupt, f.session, data, func(result json.RawMessage) {
			var r protocol.InterruptResult
			if json.Unmarshal(result, &r) == nil && !r.Interrupted {
				n := noticeFrame("Nothing to cancel", meta{"in_reply_to": c.event})
				n.Session, n.Step = f.session, string(c.Step)
				s.send(n)
			}
		})
	})
}

// task cancels or restarts a task of the plan.
func (s *server) task(c *call, verb protocol.Verb) {
	id := object(c.Content).str("task_id", "id")
	if id == "" {
		id = plain(c.Content)
	}
	if id == "" {
		s.invalid(c, "content.task_id is missing")
		return
	}
	s.in(c, func(f *follow) { s.do(c, verb, f.session, protocol.TaskIDData{Task: id}, nil) })
}

// cancelPlan denies the plan that waits for its confirmation, or else cancels what runs.
func (s *server) cancelPlan(c *call) {
	s.in(c, func(f *follow) {
		if a := f.planAsked(); a != nil {
			s.decide(c, f.session, protocol.ApproveData{Request: a.Request, Decision: protocol.Deny, Reason: object(c.Content).str("reason")})
			return
		}
		s.cancel(c)
	})
}

// replan denies the plan that waits for its confirmation and asks for another one.
func (s *server) replan(c *call) {
	s.in(c, func(f *follow) {
		a := f.planAsked()
		if a == nil {
			s.refuse(c, protocol.Errorf(protocol.CodeNotFound, "No plan waits for its confirmation"))
			return
		}
		reason := object(c.Content).str("reason", "feedback", "question", "message")
		if reason == "" {
			reason = plain(c.Content)
		}
		if reason == "" {
			reason = "make another plan"
		}
		s.decide(c, f.session, protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: reason, Input: &protocol.ApprovalInput{Replan: true},
		})
	})
}

// planAsked is the plan that waits for its confirmation, or nil.
func (f *follow) planAsked() *protocol.Approval {
	for i := range f.state.Approvals {
		if a := &f.state.Approvals[i]; a.Kind == protocol.ApprovePlan {
			return a
		}
	}
	return nil
}

func (s *server) decide(c *call, session string, d protocol.ApproveData) {
	s.do(c, protocol.DoApprove, session, d, nil)
}
