package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// handleCancelPlan interrupts a turn whose plan is being made. As in MyAgent, a plan that awaits
// its confirmation is not cancelled: the client answers the confirmation.
func (s *Conn) handleCancelPlan(c *request) {
	s.withSession(c, func(sub *subscription) {
		plan := sub.state.Plan
		if sub.state.Turn == nil || sub.pendingPlan() != nil || plan == nil || plan.Status != protocol.StatusRunning {
			n := notice("No planning in progress", wire.Meta{"action": c.action(), "ok": false})
			n.Session, n.Step = sub.session, wire.StepID(string(c.Step))
			s.send(n)
			return
		}
		s.acknowledge(c, sub.session, "Plan cancellation requested", wire.Meta{})
		s.handleCancel(c)
	})
}

// handleReplan requests another plan. With a plan that awaits its confirmation, the denial that
// follows makes the new plan. A plan being made is interrupted, and an idle session starts a turn.
func (s *Conn) handleReplan(c *request) {
	question := wire.ParseObject(c.Content).Str("question", "reason", "feedback", "message")
	if question == "" {
		question = wire.Scalar(c.Content)
	}
	s.withSession(c, func(sub *subscription) {
		m := wire.Meta{"mode": "in_run"}
		switch a := sub.pendingPlan(); {
		case a != nil:
			if question == "" {
				question = "make another plan"
			}
			sub.replan = replan{request: a.Request, question: question}
			s.acknowledge(c, sub.session, "Replan requested", m)
		case question == "":
			s.sendRefusal(c, protocol.Errorf(protocol.CodeNotFound, "Replan requires a question when session is idle"))
		case sub.state.Turn != nil:
			s.acknowledge(c, sub.session, "Replan requested", m)
			stop := protocol.InterruptData{Turn: sub.state.Turn.Turn}
			s.startTurn(c, sub, question, func() {
				s.Request(protocol.DoInterrupt, sub.session, "", stop, nil)
			})
		default:
			s.acknowledge(c, sub.session, "Replan started", wire.Meta{"mode": "restart", "question": question})
			s.startTurn(c, sub, question, nil)
		}
	})
}

// startTurn sends a message ahead of the queue. then may be nil.
func (s *Conn) startTurn(c *request, sub *subscription, text string, then func()) {
	data := protocol.SendData{Text: text, Front: true}
	s.sendCommand(c, protocol.DoSend, sub.session, data, func(result json.RawMessage) {
		s.recordSend(result)
		if then != nil {
			then()
		}
	})
}

// A replan is a request for another plan, until its confirmation is denied.
type replan struct{ request, question string }

// pendingPlan returns the plan that awaits confirmation, or nil.
func (sub *subscription) pendingPlan() *protocol.Approval {
	for i := range sub.state.Approvals {
		if a := &sub.state.Approvals[i]; a.Kind == protocol.ApprovePlan {
			return a
		}
	}
	return nil
}

func (s *Conn) approve(c *request, session string, d protocol.ApproveData) {
	s.sendCommand(c, protocol.DoApprove, session, d, nil)
}
