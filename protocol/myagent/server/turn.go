package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// handleMessage sends a user message. During a turn it is queued, and a notice reports that.
func (s *Conn) handleMessage(c *request) {
	text := wire.Text(c.Content)
	if strings.TrimSpace(text) == "" {
		s.refuseInvalid(c, "content is missing")
		return
	}
	s.withSession(c, func(sub *subscription) {
		data := protocol.SendData{Text: text, ClientMessageID: c.meta.Str("client_message_id")}
		s.sendCommand(c, protocol.DoSend, sub.session, data, s.recordSend)
	})
}

// recordSend remembers a message of this client.
func (s *Conn) recordSend(result json.RawMessage) {
	var r protocol.SendResult
	if json.Unmarshal(result, &r) == nil {
		s.addOwnMessage(r.MessageID)
	}
}

// handleSolve runs given tasks without planning.
func (s *Conn) handleSolve(c *request) {
	o := wire.ParseObject(c.Content)
	tasks := wire.NativeTasks(o["tasks"])
	if len(tasks) == 0 {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeNotFound, "Missing tasks in %s content", c.event))
		return
	}
	s.withSession(c, func(sub *subscription) {
		data := protocol.PlanRunData{Tasks: tasks, Question: o.Str("question"), Summary: o.Str("plan_summary")}
		s.sendCommand(c, protocol.DoPlanRun, sub.session, data, s.recordSend)
	})
}

// handleCancel interrupts the current turn.
func (s *Conn) handleCancel(c *request) {
	s.withSession(c, func(sub *subscription) {
		data := protocol.InterruptData{Queue: c.meta.Str("queue"), Turn: c.meta.Str("turn_id")}
		if data.Turn == "" && sub.state.Turn != nil {
			data.Turn = sub.state.Turn.Turn
		}
		s.sendCommand(c, protocol.DoInterrupt, sub.session, data, func(result json.RawMessage) {
			var r protocol.InterruptResult
			if json.Unmarshal(result, &r) == nil && !r.Interrupted {
				n := notice("Nothing to cancel", wire.Meta{"in_reply_to": c.event})
				n.Session, n.Step = sub.session, wire.StepID(string(c.Step))
				s.send(n)
			}
		})
	})
}

// handleTask cancels or restarts a task of the plan.
func (s *Conn) handleTask(c *request, verb protocol.Verb) {
	id := c.taskID()
	if id == "" {
		s.refuseInvalid(c, "content.task_id is missing")
		return
	}
	s.withSession(c, func(sub *subscription) {
		s.sendCommand(c, verb, sub.session, protocol.TaskIDData{Task: id}, func(json.RawMessage) {
			text := fmt.Sprintf("%s request for %s accepted", c.action(), id)
			s.acknowledge(c, sub.session, text, wire.Meta{"task_id": wire.TaskID(id)})
		})
	})
}

// taskID returns the task of a request, or "".
func (f *request) taskID() string {
	if id := wire.ParseObject(f.Content).Str("task_id", "id"); id != "" {
		return id
	}
	return wire.Scalar(f.Content)
}

// action returns the name of a request in notices about it.
func (f *request) action() string { return strings.TrimPrefix(f.event, "user.") }

// acknowledge reports that a request about a task or plan was carried out, to a client that expects
// no reply.
func (s *Conn) acknowledge(c *request, session, text string, m wire.Meta) {
	if c.meta.Has("reply_to") {
		return
	}
	m["action"], m["ok"] = c.action(), true
	n := notice(text, m)
	n.Session, n.Step = session, wire.StepID(string(c.Step))
	s.send(n)
}
