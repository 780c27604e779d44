package client

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A command is a command of the client in a session of its connection.
type command struct {
	*protocol.Command
	s *session
	x *exchange
}

// run executes the command.
func (c command) run(data any) {
	switch d := data.(type) {
	case *protocol.SubscribeData:
		c.x.Subscribe(c.Command, c.s.log)
	case *protocol.HistoryData:
		c.history(d)
	case *protocol.SendData:
		c.send(d, c.answerSent)
	case *protocol.PlanRunData:
		c.runPlan(d)
	case *protocol.InterruptData:
		c.interrupt(d)
	case *protocol.ApproveData:
		c.approve(d)
	case *protocol.TaskIDData:
		c.task(d)
	default:
		switch c.Command.Command {
		case protocol.DoSnapshot:
			c.x.AnswerSnapshot(c.Command, c.s.log)
		case protocol.DoExport:
			c.export()
		}
	}
}

func (c command) answer(result any) { c.x.Answer(c.Command, result) }

func (c command) fail(err *protocol.Error) { c.x.Fail(c.Command, err) }

// forward sends a frame and answers with the server's reply.
func (c command) forward(f wire.Frame) {
	c.x.request(f, c.s, func(result json.RawMessage, err *protocol.Error) { c.x.forward(c.Command, result, err) })
}

func (c command) answerSent(r protocol.SendResult) { c.answer(r) }

// send sends a message and calls then with the result. On failure the command fails instead.
func (c command) send(d *protocol.SendData, then func(protocol.SendResult)) {
	texts := []string{d.Text}
	for _, p := range d.Parts {
		if p.Type != "text" || p.URL != "" || p.Blob != "" {
			c.x.FailUnsupported(c.Command, "a part of type "+clipID(p.Type))
			return
		}
		texts = append(texts, p.Text)
	}
	content := strings.TrimSpace(strings.Join(texts, "\n\n"))
	switch {
	case content == "":
		c.x.Failf(c.Command, protocol.CodeInvalidMessage, "send: text is empty")
		return
	case d.NotBefore != nil:
		c.x.FailUnsupported(c.Command, string(codec.SendAt))
		return
	case d.Delivery == protocol.DeliverSteer:
		c.x.FailUnsupported(c.Command, string(codec.SendSteer))
		return
	case d.Front:
		c.x.FailUnsupported(c.Command, "a message ahead of the queue")
		return
	}
	f := wire.Frame{Session: c.s.serverID, Event: wire.UserMessage, Content: content}
	if c.x.capabilities[wire.CapReply] {
		f.Meta = wire.Meta{}.With("key", c.Key).With("client_message_id", d.ClientMessageID)
		c.sendForResult(f, then)
		return
	}
	m := protocol.Message{
		MessageID: c.x.Options.ID("m"), ClientMessageID: d.ClientMessageID, Text: content, By: c.x.actor(),
	}
	if err := c.x.checkSize(&f); err != nil {
		c.fail(err)
		return
	}
	if c.s.log.State.Turn == nil {
		turn := c.s.startTurn(m)
		c.x.send(f)
		then(protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: turn})
		return
	}
	// A MyAgent server rejects messages during a turn, so queue it here.
	if c.s.log.Full(protocol.QueueAdded, maxPending) {
		c.fail(&protocol.Error{Code: protocol.CodeQueueFull, Message: "too many queued messages", Limit: maxPending})
		return
	}
	at, index := c.x.Now.UTC(), len(c.s.log.State.Queue)
	m.QueuedAt = &at
	c.s.record(codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	then(protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index})
}

// sendForResult sends a message to agentctl's server and calls then with the result. The result's seq
// belongs to the server's log and is dropped.
func (c command) sendForResult(f wire.Frame, then func(protocol.SendResult)) {
	c.x.request(f, c.s, func(result json.RawMessage, err *protocol.Error) {
		var r protocol.SendResult
		if err == nil && json.Unmarshal(result, &r) != nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server's answer cannot be read")
		}
		if err != nil {
			c.fail(err)
			return
		}
		r.Seq = 0
		then(r)
	})
}

// runPlan sends given tasks to be solved.
func (c command) runPlan(d *protocol.PlanRunData) {
	f := wire.Frame{
		Session: c.s.serverID, Event: wire.UserSolveTasks, Meta: wire.Meta{}.With("key", c.Key),
		Content: wire.Meta{"tasks": wire.ForeignTasks(d.Tasks)}.With("question", d.Question).With("plan_summary", d.Summary),
	}
	if c.x.capabilities[wire.CapReply] {
		c.sendForResult(f, c.answerSent)
		return
	}
	if c.s.log.State.Turn != nil {
		c.x.FailUnsupported(c.Command, "solving tasks during a turn")
		return
	}
	m := protocol.Message{MessageID: c.x.Options.ID("m"), Text: d.Question, By: c.x.actor()}
	if m.Text == "" {
		m.Text = d.Summary
	}
	for _, t := range d.Tasks {
		if d.Question == "" && d.Summary == "" {
			m.Text = strings.TrimPrefix(m.Text+", "+t.Title, ", ")
		}
	}
	turn := c.s.startTurn(m)
	c.s.decoder.runsTasks = true
	c.s.record(codec.Entry{
		Type: protocol.PlanCompleted, Turn: turn, Data: protocol.PlanTasksData{Tasks: d.Tasks, Summary: d.Summary},
	})
	c.x.send(f)
	c.answer(protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: turn})
}

// interrupt cancels the current turn.
func (c command) interrupt(d *protocol.InterruptData) {
	f := wire.Frame{Session: c.s.serverID, Event: wire.UserCancel}
	if c.x.capabilities[wire.CapReply] {
		f.Meta = wire.Meta{}.With("key", c.Key).With("queue", d.Queue).With("turn_id", d.Turn)
		c.forward(f)
		return
	}
	turn := c.s.log.State.Turn
	switch {
	case d.Queue == protocol.QueueHold:
		c.x.FailUnsupported(c.Command, "holding the queue")
		return
	case turn == nil || d.Turn != "" && d.Turn != turn.Turn:
		c.answer(protocol.InterruptResult{})
		return
	case d.Queue == protocol.QueueClear:
		c.s.clearQueue()
	}
	c.x.send(f)
	result := protocol.InterruptResult{Interrupted: true, Turn: turn.Turn}
	c.x.await(actionTurn, c.s, func(_ json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.fail(err)
			return
		}
		c.answer(result)
	})
}

// task cancels or restarts a task.
func (c command) task(d *protocol.TaskIDData) {
	f := wire.Frame{
		Session: c.s.serverID, Event: wire.UserCancelTask, Meta: wire.Meta{}.With("key", c.Key),
		Content: wire.Meta{"task_id": c.s.decoder.foreignTaskID(d.Task)},
	}
	if c.Command.Command == protocol.DoTaskRestart {
		f.Event = wire.UserRestartTask
	}
	if c.x.capabilities[wire.CapReply] {
		c.forward(f)
		return
	}
	// A MyAgent server answers with a notice, which does not name the task, or refuses.
	c.x.request(f, c.s, func(_ json.RawMessage, err *protocol.Error) {
		if err != nil && err.Code != protocol.CodeTimeout {
			c.fail(err)
			return
		}
		c.answer(protocol.Empty{})
	})
}

// export requests a signed state. The client treats the whole of it as opaque.
func (c command) export() {
	f := wire.Frame{Session: c.s.serverID, Event: wire.UserRequestState}
	c.x.request(f, c.s, func(raw json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.fail(err)
			return
		}
		if len(raw) <= wire.MaxSigned {
			c.s.signedState = raw // for the next connection, in case the server loses the session
		}
		signature := wire.ParseObject(raw).Str("signature")
		c.answer(protocol.ExportResult{
			State:   protocol.SignedState{Version: wire.Name, State: raw, Signature: signature},
			Expires: c.x.Now.Add(wire.DefaultStateTTL).UTC(),
		})
	})
}

// history answers with finished turns: the turns in the log, then earlier ones that the server has.
// Their seqs are in order, because the log starts behind the server's.
func (c command) history(d *protocol.HistoryData) {
	s := c.s
	local := s.log.History(*d)
	if !c.x.capabilities[wire.CapHistory] || s.serverStart == 0 || s.serverID != s.log.Session {
		c.answer(local)
		return
	}
	if len(local.Events) > 0 {
		local.More = true
		c.answer(local)
		return
	}
	before := s.serverStart + 1
	if d.Before > 0 && d.Before <= s.logStart {
		before = min(before, d.Before)
	}
	f := wire.Frame{Session: s.serverID, Event: wire.UserRequestHistory, Content: wire.Meta{"before": before, "limit": d.Limit}}
	c.x.request(f, s, func(result json.RawMessage, err *protocol.Error) {
		var remote protocol.HistoryResult
		if err == nil && json.Unmarshal(result, &remote) != nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server's history cannot be read")
		}
		if err != nil {
			c.fail(err)
			return
		}
		remote.Epoch = s.log.Epoch
		if remote.Events == nil {
			remote.Events = []json.RawMessage{}
		}
		c.answer(remote)
	})
}
