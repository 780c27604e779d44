package server

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// message sends a user message. During a turn it is queued, and a notice reports that.
func (c *request) message() {
	text := wire.Text(c.Content)
	if strings.TrimSpace(text) == "" {
		c.refuseInvalid("content is missing")
		return
	}
	c.withSession(func(sub *subscription) {
		data := protocol.SendData{Text: text, ClientMessageID: c.meta.Str("client_message_id")}
		c.command(protocol.DoSend, sub.session, data, c.recordSend)
	})
}

// recordSend remembers a message of this client.
func (c *request) recordSend(result json.RawMessage) {
	var r protocol.SendResult
	if json.Unmarshal(result, &r) == nil {
		c.attacher.subs.addOwnMessage(r.MessageID)
	}
}

// solve runs given tasks without planning.
func (c *request) solve() {
	o := wire.ParseObject(c.Content)
	tasks := wire.NativeTasks(o["tasks"])
	if len(tasks) == 0 {
		c.refuse(protocol.Errorf(protocol.CodeNotFound, "Missing tasks in %s content", c.event))
		return
	}
	c.withSession(func(sub *subscription) {
		data := protocol.PlanRunData{Tasks: tasks, Question: o.Str("question"), Summary: o.Str("plan_summary")}
		c.command(protocol.DoPlanRun, sub.session, data, c.recordSend)
	})
}

// cancel interrupts the current turn.
func (c *request) cancel() {
	c.withSession(func(sub *subscription) {
		data := protocol.InterruptData{Queue: c.meta.Str("queue"), Turn: c.meta.Str("turn_id")}
		if data.Turn == "" && sub.state.Turn != nil {
			data.Turn = sub.state.Turn.Turn
		}
		c.command(protocol.DoInterrupt, sub.session, data, func(result json.RawMessage) {
			var r protocol.InterruptResult
			if json.Unmarshal(result, &r) == nil && !r.Interrupted {
				c.notify(sub.session, "Nothing to cancel", wire.Meta{"in_reply_to": c.event})
			}
		})
	})
}

// task cancels or restarts a task of the plan.
func (c *request) task(verb protocol.Verb) {
	id := c.taskID()
	if id == "" {
		c.refuseInvalid("content.task_id is missing")
		return
	}
	c.withSession(func(sub *subscription) {
		c.command(verb, sub.session, protocol.TaskIDData{Task: id}, func(json.RawMessage) {
			text := fmt.Sprintf("%s request for %s accepted", c.action(), id)
			c.acknowledge(sub.session, text, wire.Meta{"task_id": wire.TaskID(id)})
		})
	})
}

// history replies with finished turns. It extends the protocol, for clients that send
// reply_to.
func (c *request) history() {
	o := wire.ParseObject(c.Content)
	d := protocol.HistoryData{Before: uint64(max(0, o.Int("before"))), Limit: int(max(0, min(o.Int("limit"), 100)))}
	c.withSession(func(sub *subscription) { c.command(protocol.DoHistory, sub.session, d, nil) })
}

// export sends the signed state of the session.
func (c *request) export() {
	c.withSession(func(sub *subscription) {
		at := protocol.Position{Epoch: sub.epoch, Seq: sub.boundary}
		c.x.Request(protocol.DoExport, sub.session, "", nil, func(a protocol.Answer) {
			r, refused := codec.DecodeResult[protocol.ExportResult](a)
			if refused != nil {
				c.refuse(refused)
				return
			}
			step := int64(sub.state.Turns)
			pending := []any{}
			for i := range sub.state.Approvals {
				pending = append(pending, wire.ConfirmStep(&sub.state.Approvals[i]))
			}
			status, agent := string(sub.state.Status()), sub.state.Agent
			state, err := signState(carriedState{
				Session: sub.session, Connection: c.x.id, Step: &step, Agent: status, Memory: "[]",
				Native: &r.State, Boundary: at, Tools: wire.Meta{}, Pending: pending,
				Created: sub.state.Created.UTC().Format(protocol.TimeFormat),
				Active:  c.x.Now.UTC().Format(protocol.TimeFormat),
				Metadata: wire.Meta{
					"agent_name": agent, "session_state": status,
					"agent_config": wire.Meta{"name": agent, "description": "", "max_steps": 0},
				},
			}, c.x.Now, c.x.Options.Sign)
			if err != nil {
				c.refuse(protocol.AsError(err))
				return
			}
			c.x.send(wire.Frame{
				Session: sub.session, Step: wire.StepID(string(c.Step)), Event: wire.AgentStateExported,
				Content: "State exported", Show: showExported,
				Meta: wire.Meta{
					"signed_state": state, "state_size": len(state), "message_count": sub.state.Turns,
					"current_step": step,
					"expires":      c.x.Now.Add(c.x.stateTTL).UTC().Format(protocol.TimeFormat),
				}.With("reply_to", c.meta.Str("reply_to")),
			})
		})
	})
}
