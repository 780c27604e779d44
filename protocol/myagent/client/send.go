package client

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// handleSend sends a user message.
func (c *Conn) handleSend(s *session, cmd *protocol.Command, d *protocol.SendData) {
	c.sendMessage(s, cmd, d, func(r protocol.SendResult) { c.Answer(cmd, r) })
}

// sendMessage sends a message and calls then with the result. On failure the command fails instead.
func (c *Conn) sendMessage(s *session, cmd *protocol.Command, d *protocol.SendData, then func(protocol.SendResult)) {
	texts := []string{d.Text}
	for _, p := range d.Parts {
		if p.Type != "text" || p.URL != "" || p.Blob != "" {
			c.FailUnsupported(cmd, "a part of type "+clipID(p.Type))
			return
		}
		texts = append(texts, p.Text)
	}
	content := strings.TrimSpace(strings.Join(texts, "\n\n"))
	switch {
	case content == "":
		c.Failf(cmd, protocol.CodeInvalidMessage, "send: text is empty")
		return
	case d.NotBefore != nil:
		c.FailUnsupported(cmd, string(codec.SendAt))
		return
	case d.Front:
		c.FailUnsupported(cmd, "a message ahead of the queue")
		return
	}
	if c.capabilities[wire.CapReply] {
		f := wire.Frame{
			Session: s.serverID, Event: wire.UserMessage, Content: content,
			Meta: wire.Meta{}.With("key", cmd.Key).With("client_message_id", d.ClientMessageID),
		}
		c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) { c.finishSend(cmd, result, err, then) })
		return
	}
	m := protocol.Message{
		MessageID: c.Options.ID("m"), ClientMessageID: d.ClientMessageID, Text: content, By: c.actor(),
	}
	f := wire.Frame{Session: s.serverID, Event: wire.UserMessage, Content: content}
	if err := c.checkSize(&f); err != nil {
		c.Fail(cmd, err)
		return
	}
	if s.log.State.Turn == nil {
		turn := c.startTurn(s, m)
		c.send(f)
		then(protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: turn})
		return
	}
	// A MyAgent server rejects messages during a turn, so queue it here.
	if s.log.Full(protocol.QueueAdded, maxPending) {
		e := protocol.Errorf(protocol.CodeQueueFull, "too many queued messages")
		e.Limit = maxPending
		c.Fail(cmd, e)
		return
	}
	at, index := c.Now.UTC(), len(s.log.State.Queue)
	m.QueuedAt = &at
	c.record(s, codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	then(protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index})
}

// finishSend decodes the result of a send from agentctl's server. Its seq belongs to the server's
// log and is dropped.
func (c *Conn) finishSend(
	cmd *protocol.Command, result json.RawMessage, err *protocol.Error, then func(protocol.SendResult),
) {
	var r protocol.SendResult
	if err == nil && json.Unmarshal(result, &r) != nil {
		err = protocol.Errorf(protocol.CodeInternal, "the server's answer cannot be read")
	}
	if err != nil {
		c.Fail(cmd, err)
		return
	}
	r.Seq = 0
	then(r)
}

// actor returns the actor of the client's own commands, or nil without a name.
func (c *Conn) actor() *protocol.Actor {
	if c.Options.Name == "" {
		return nil
	}
	return &protocol.Actor{Name: c.Options.Name}
}

// startTurn starts a turn that the server does not announce.
func (c *Conn) startTurn(s *session, m protocol.Message) string {
	turn := c.Options.ID("t")
	s.forgetTurn()
	s.pieceSeq = c.seqs.highest
	c.record(s, codec.Entry{
		Type: protocol.MessageUser, Turn: turn, By: m.By, Data: protocol.MessageUserData{Message: m},
	})
	c.record(s, codec.Entry{
		Type: protocol.TurnStarted, Turn: turn, Data: protocol.TurnStartedData{MessageID: m.MessageID},
	})
	return turn
}

// sendNext sends the first queued message after a turn.
func (c *Conn) sendNext(s *session) {
	m := s.log.State.NextQueued()
	if m == nil || c.capabilities[wire.CapTurns] {
		return
	}
	first := *m
	c.record(s, codec.Entry{
		Type: protocol.QueueRemoved,
		Data: protocol.QueueRemovedData{MessageID: first.MessageID, Reason: protocol.RemovedStarted},
	})
	c.startTurn(s, first)
	c.send(wire.Frame{Session: s.serverID, Event: wire.UserMessage, Content: first.Text})
}

// handlePlanRun sends given tasks to be solved.
func (c *Conn) handlePlanRun(s *session, cmd *protocol.Command, d *protocol.PlanRunData) {
	f := wire.Frame{
		Session: s.serverID, Event: wire.UserSolveTasks, Meta: wire.Meta{}.With("key", cmd.Key),
		Content: wire.Meta{"tasks": wire.ForeignTasks(d.Tasks)}.With("question", d.Question).With("plan_summary", d.Summary),
	}
	if c.capabilities[wire.CapReply] {
		c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) {
			c.finishSend(cmd, result, err, func(r protocol.SendResult) { c.Answer(cmd, r) })
		})
		return
	}
	if s.log.State.Turn != nil {
		c.FailUnsupported(cmd, "solving tasks during a turn")
		return
	}
	m := protocol.Message{MessageID: c.Options.ID("m"), Text: d.Question, By: c.actor()}
	if m.Text == "" {
		m.Text = d.Summary
	}
	for _, t := range d.Tasks {
		if d.Question == "" && d.Summary == "" {
			m.Text = strings.TrimPrefix(m.Text+", "+t.Title, ", ")
		}
	}
	turn := c.startTurn(s, m)
	s.runsTasks = true
	c.record(s, codec.Entry{
		Type: protocol.PlanCompleted, Turn: turn, Data: protocol.PlanTasksData{Tasks: d.Tasks, Summary: d.Summary},
	})
	c.send(f)
	c.Answer(cmd, protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: turn})
}

// actionTurn is the event of a request that awaits the end of the turn.
const actionTurn = "turn"

// handleInterrupt cancels the current turn.
func (c *Conn) handleInterrupt(s *session, cmd *protocol.Command, d *protocol.InterruptData) {
	f := wire.Frame{
		Session: s.serverID, Event: wire.UserCancel,
		Meta: wire.Meta{}.With("key", cmd.Key).With("queue", d.Queue).With("turn_id", d.Turn),
	}
	if c.capabilities[wire.CapReply] {
		c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) { c.forwardAnswer(cmd, result, err) })
		return
	}
	turn := s.log.State.Turn
	switch {
	case d.Queue == protocol.QueueHold:
		c.FailUnsupported(cmd, "holding the queue")
		return
	case turn == nil || d.Turn != "" && d.Turn != turn.Turn:
		c.Answer(cmd, protocol.InterruptResult{})
		return
	}
	if d.Queue == protocol.QueueClear {
		for _, m := range slices.Clone(s.log.State.Queue) {
			c.record(s, codec.Entry{
				Type: protocol.QueueRemoved,
				Data: protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared},
			})
		}
	}
	f.Meta = nil
	c.send(f)
	result := protocol.InterruptResult{Interrupted: true, Turn: turn.Turn}
	c.requests = append(c.requests, &request{
		event: actionTurn, session: s, deadline: c.Now.Add(requestTimeout),
		done: func(_ json.RawMessage, err *protocol.Error) {
			if err != nil {
				c.Fail(cmd, err)
				return
			}
			c.Answer(cmd, result)
		},
	})
}

// forwardAnswer answers a command with the server's reply.
func (c *Conn) forwardAnswer(cmd *protocol.Command, result json.RawMessage, err *protocol.Error) {
	if err != nil {
		c.Fail(cmd, err)
		return
	}
	c.Answer(cmd, result)
}

// handleTask cancels or restarts a task.
func (c *Conn) handleTask(s *session, cmd *protocol.Command, d *protocol.TaskIDData) {
	f := wire.Frame{
		Session: s.serverID, Event: wire.UserCancelTask, Content: wire.Meta{"task_id": s.foreignTaskID(d.Task)},
		Meta: wire.Meta{}.With("key", cmd.Key),
	}
	if cmd.Command == protocol.DoTaskRestart {
		f.Event = wire.UserRestartTask
	}
	if c.capabilities[wire.CapReply] {
		c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) { c.forwardAnswer(cmd, result, err) })
		return
	}
	// A MyAgent server answers with a notice, which tells nothing about the task, or refuses.
	c.sendRequest(f, s, func(_ json.RawMessage, err *protocol.Error) {
		if err != nil && err.Code != protocol.CodeTimeout {
			c.Fail(cmd, err)
			return
		}
		c.Answer(cmd, protocol.Empty{})
	})
}

// foreignTaskID returns a task id as the server wrote it.
func (s *session) foreignTaskID(task string) any {
	if s.numericTasks[task] {
		return wire.TaskID(task)
	}
	return task
}
