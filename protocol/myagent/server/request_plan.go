package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// cancelPlan interrupts a turn whose plan is being made. As in MyAgent, a plan that awaits
// its confirmation is not cancelled: the client answers the confirmation.
func (c *request) cancelPlan() {
	c.withSession(func(sub *subscription) {
		plan := sub.state.Plan
		if sub.state.Turn == nil || sub.pendingPlan() != nil || plan == nil || plan.Status != protocol.StatusRunning {
			c.notify(sub.session, "No planning in progress", wire.Meta{"action": c.action(), "ok": false})
			return
		}
		c.acknowledge(sub.session, "Plan cancellation requested", wire.Meta{})
		c.cancel()
	})
}

// replan requests another plan. With a plan that awaits its confirmation, the denial that
// follows makes the new plan. A plan being made is interrupted, and an idle session starts a turn.
func (c *request) replan() {
	question := wire.ParseObject(c.Content).Str("question", "reason", "feedback", "message")
	if question == "" {
		question = wire.Scalar(c.Content)
	}
	c.withSession(func(sub *subscription) {
		m := wire.Meta{"mode": "in_run"}
		switch a := sub.pendingPlan(); {
		case a != nil:
			if question == "" {
				question = "make another plan"
			}
			sub.replan = replan{request: a.Request, question: question}
			c.acknowledge(sub.session, "Replan requested", m)
		case question == "":
			c.refuse(protocol.Errorf(protocol.CodeNotFound, "Replan requires a question when session is idle"))
		case sub.state.Turn != nil:
			c.acknowledge(sub.session, "Replan requested", m)
			stop := protocol.InterruptData{Turn: sub.state.Turn.Turn}
			c.startTurn(sub, question, func() {
				c.x.Request(protocol.DoInterrupt, sub.session, "", stop, nil)
			})
		default:
			c.acknowledge(sub.session, "Replan started", wire.Meta{"mode": "restart", "question": question})
			c.startTurn(sub, question, nil)
		}
	})
}

// startTurn sends a message ahead of the queue. then may be nil.
func (c *request) startTurn(sub *subscription, text string, then func()) {
	data := protocol.SendData{Text: text, Front: true}
	c.command(protocol.DoSend, sub.session, data, func(result json.RawMessage) {
		c.recordSend(result)
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
