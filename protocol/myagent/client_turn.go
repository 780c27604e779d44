package myagent

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
)

// handleMessage sends a user message. During a turn it is queued, and a notice reports that.
func (s *server) handleMessage(c *clientFrame) {
	text := contentText(c.Content)
	if strings.TrimSpace(text) == "" {
		s.refuseInvalid(c, "content is missing")
		return
	}
	s.withSession(c, func(sub *subscription) {
		data := protocol.SendData{Text: text, ClientMessageID: c.meta.str("client_message_id")}
		s.sendCommand(c, protocol.DoSend, sub.session, data, s.recordSend)
	})
}

// recordSend remembers a message of this client.
func (s *server) recordSend(result json.RawMessage) {
	var r protocol.SendResult
	if json.Unmarshal(result, &r) == nil {
		s.addOwnMessage(r.MessageID)
	}
}

// handleSolve runs given tasks without planning.
func (s *server) handleSolve(c *clientFrame) {
	o := parseObject(c.Content)
	tasks := nativeTasks(o["tasks"])
	if len(tasks) == 0 {
		s.refuseInvalid(c, "content.tasks is missing")
		return
	}
	s.withSession(c, func(sub *subscription) {
		data := protocol.PlanRunData{Tasks: tasks, Question: o.str("question"), Summary: o.str("plan_summary")}
		s.sendCommand(c, protocol.DoPlanRun, sub.session, data, s.recordSend)
	})
}

// handleCancel interrupts the current turn.
func (s *server) handleCancel(c *clientFrame) {
	s.withSession(c, func(sub *subscription) {
		data := protocol.InterruptData{Queue: c.meta.str("queue"), Turn: c.meta.str("turn_id")}
		if data.Turn == "" && sub.state.Turn != nil {
			data.Turn = sub.state.Turn.Turn
		}
		s.sendCommand(c, protocol.DoInterrupt, sub.session, data, func(result json.RawMessage) {
			var r protocol.InterruptResult
			if json.Unmarshal(result, &r) == nil && !r.Interrupted {
				n := notice("Nothing to cancel", meta{"in_reply_to": c.event})
				n.Session, n.Step = sub.session, string(c.Step)
				s.send(n)
			}
		})
	})
}

// handleTask cancels or restarts a task of the plan.
func (s *server) handleTask(c *clientFrame, verb protocol.Verb) {
	id := parseObject(c.Content).str("task_id", "id")
	if id == "" {
		id = scalarText(c.Content)
	}
	if id == "" {
		s.refuseInvalid(c, "content.task_id is missing")
		return
	}
	s.withSession(c, func(sub *subscription) {
		s.sendCommand(c, verb, sub.session, protocol.TaskIDData{Task: id}, nil)
	})
}

// handleCancelPlan denies the plan that awaits confirmation, or else interrupts the turn.
func (s *server) handleCancelPlan(c *clientFrame) {
	s.withSession(c, func(sub *subscription) {
		if a := sub.pendingPlan(); a != nil {
			s.approve(c, sub.session, protocol.ApproveData{
				Request: a.Request, Decision: protocol.Deny, Reason: parseObject(c.Content).str("reason"),
			})
			return
		}
		s.handleCancel(c)
	})
}

// handleReplan denies the plan that awaits confirmation and requests another one.
func (s *server) handleReplan(c *clientFrame) {
	s.withSession(c, func(sub *subscription) {
		a := sub.pendingPlan()
		if a == nil {
			s.sendRefusal(c, protocol.Errorf(protocol.CodeNotFound, "No plan waits for its confirmation"))
			return
		}
		reason := parseObject(c.Content).str("reason", "feedback", "question", "message")
		if reason == "" {
			reason = scalarText(c.Content)
		}
		if reason == "" {
			reason = "make another plan"
		}
		s.approve(c, sub.session, protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: reason, Input: &protocol.ApprovalInput{Replan: true},
		})
	})
}

// pendingPlan returns the plan that awaits confirmation, or nil.
func (sub *subscription) pendingPlan() *protocol.Approval {
	for i := range sub.state.Approvals {
		if a := &sub.state.Approvals[i]; a.Kind == protocol.ApprovePlan {
			return a
		}
	}
	return nil
}

func (s *server) approve(c *clientFrame, session string, d protocol.ApproveData) {
	s.sendCommand(c, protocol.DoApprove, session, d, nil)
}
