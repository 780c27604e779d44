package myagent

import (
	"encoding/json"
	"fmt"
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
		s.sendRefusal(c, protocol.Errorf(protocol.CodeNotFound, "Missing tasks in %s content", c.event))
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
				n.Session, n.Step = sub.session, stepID(string(c.Step))
				s.send(n)
			}
		})
	})
}

// handleTask cancels or restarts a task of the plan.
func (s *server) handleTask(c *clientFrame, verb protocol.Verb) {
	id := c.taskID()
	if id == "" {
		s.refuseInvalid(c, "content.task_id is missing")
		return
	}
	s.withSession(c, func(sub *subscription) {
		s.sendCommand(c, verb, sub.session, protocol.TaskIDData{Task: id}, func(json.RawMessage) {
			text := fmt.Sprintf("%s request for %s accepted", c.action(), id)
			s.acknowledge(c, sub.session, text, meta{"task_id": taskID(id)})
		})
	})
}

// taskID returns the task of a request, or "".
func (f *clientFrame) taskID() string {
	if id := parseObject(f.Content).str("task_id", "id"); id != "" {
		return id
	}
	return scalarText(f.Content)
}

// action returns the name of a request in notices about it.
func (f *clientFrame) action() string { return strings.TrimPrefix(f.event, "user.") }

// acknowledge reports that a request about a task or plan was carried out, to a client that expects
// no reply.
func (s *server) acknowledge(c *clientFrame, session, text string, m meta) {
	if c.meta.has("reply_to") {
		return
	}
	m["action"], m["ok"] = c.action(), true
	n := notice(text, m)
	n.Session, n.Step = session, stepID(string(c.Step))
	s.send(n)
}
