package myagent

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// send says a message of a person's.
func (c *client) send(s *session, cmd *protocol.Command, d *protocol.SendData) {
	c.deliver(s, cmd, d, func(r protocol.SendResult) { c.desk.Answer(c.out, cmd, r) })
}

// deliver says a message; then gets what became of it, unless it failed.
func (c *client) deliver(s *session, cmd *protocol.Command, d *protocol.SendData, then func(protocol.SendResult)) {
	said := []string{d.Text}
	for _, p := range d.Parts {
		if p.Type != "text" || p.URL != "" || p.Blob != "" {
			c.desk.Fail(c.out, cmd, c.unsupported("a part of type "+clip(p.Type)))
			return
		}
		said = append(said, p.Text)
	}
	content := strings.TrimSpace(strings.Join(said, "\n\n"))
	switch {
	case content == "":
		c.desk.Fail(c.out, cmd, protocol.Errorf(protocol.CodeInvalidMessage, "send: text is empty"))
		return
	case d.Front:
		c.desk.Fail(c.out, cmd, c.unsupported("a message ahead of the queue"))
		return
	}
	if c.can[canReply] {
		f := frame{Session: s.foreign, Event: userMessage, Content: content, Meta: meta{}.with("key", cmd.Key).with("client_message_id", d.ClientMessageID)}
		c.ask(f, s, func(result json.RawMessage, err *protocol.Error) { c.sent(cmd, result, err, then) })
		return
	}
	m := protocol.Message{MessageID: c.call.ID("m"), ClientMessageID: d.ClientMessageID, Text: content, By: c.by()}
	f := frame{Session: s.foreign, Event: userMessage, Content: content}
	if err := c.large(&f); err != nil {
		c.desk.Fail(c.out, cmd, err)
		return
	}
	if s.log.State.Turn == nil {
		turn := c.start(s, m)
		c.say(f)
		then(protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: turn})
		return
	}
	// A MyAgent server refuses a message while it works, so it waits here.
	if s.full(protocol.QueueAdded) {
		e := protocol.Errorf(protocol.CodeTooMany, "too many queued messages")
		e.Limit = maxPending
		c.desk.Fail(c.out, cmd, e)
		return
	}
	at, index := c.now.UTC(), len(s.log.State.Queue)
	m.QueuedAt = &at
	s.add(c, codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	then(protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index})
}

// sent reads what a server of ours says of a message; its seq is of its own log.
func (c *client) sent(cmd *protocol.Command, result json.RawMessage, err *protocol.Error, then func(protocol.SendResult)) {
	var r protocol.SendResult
	if err == nil && json.Unmarshal(result, &r) != nil {
		err = protocol.Errorf(protocol.CodeInternal, "the server's answer cannot be read")
	}
	if err != nil {
		c.desk.Fail(c.out, cmd, err)
		return
	}
	r.Seq = 0
	then(r)
}

func (c *client) by() *protocol.Actor {
	if c.call.Name == "" {
		return nil
	}
	return &protocol.Actor{Name: c.call.Name}
}

// start begins a turn where the server does not tell of it.
func (c *client) start(s *session, m protocol.Message) string {
	turn := c.call.ID("t")
	s.turns++
	s.forgetTurn()
	s.add(c, codec.Entry{Type: protocol.MessageUser, Turn: turn, By: m.By, Data: protocol.MessageUserData{Message: m}})
	s.add(c, codec.Entry{Type: protocol.TurnStarted, Turn: turn, Data: protocol.TurnStartedData{MessageID: m.MessageID}})
	return turn
}

// next says the first queued message, when the turn is over.
func (c *client) next(s *session) {
	m := s.log.State.NextQueued()
	if m == nil || c.can[canTurns] {
		return
	}
	first := *m
	s.add(c, codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: first.MessageID, Reason: protocol.RemovedStarted}})
	c.start(s, first)
	c.say(frame{Session: s.foreign, Event: userMessage, Content: first.Text})
}

// solve has given tasks solved.
func (c *client) solve(s *session, cmd *protocol.Command, d *protocol.PlanRunData) {
	f := frame{
		Session: s.foreign, Event: userSolveTasks, Meta: meta{}.with("key", cmd.Key),
		Content: meta{"tasks": foreignTasks(d.Tasks)}.with("question", d.Question).with("plan_summary", d.Summary),
	}
	if c.can[canReply] {
		c.ask(f, s, func(result json.RawMessage, err *protocol.Error) {
			c.sent(cmd, result, err, func(r protocol.SendResult) { c.desk.Answer(c.out, cmd, r) })
		})
		return
	}
	if s.log.State.Turn != nil {
		c.desk.Fail(c.out, cmd, c.unsupported("tasks to be solved while a turn runs"))
		return
	}
	m := protocol.Message{MessageID: c.call.ID("m"), Text: d.Question, By: c.by()}
	if m.Text == "" {
		m.Text = d.Summary
	}
	turn := c.start(s, m)
	s.solving = true
	s.add(c, codec.Entry{Type: protocol.PlanCompleted, Turn: turn, Data: protocol.PlanTasksData{Tasks: d.Tasks, Summary: d.Summary}})
	c.say(f)
	c.desk.Answer(c.out, cmd, protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: turn})
}

// actionTurn is what an ask waits for that wants the turn's end.
const actionTurn = "turn"

// interrupt cancels what runs.
func (c *client) interrupt(s *session, cmd *protocol.Command, d *protocol.InterruptData) {
	f := frame{Session: s.foreign, Event: userCancel, Meta: meta{}.with("key", cmd.Key).with("queue", d.Queue).with("turn_id", d.Turn)}
	if c.can[canReply] {
		c.ask(f, s, func(result json.RawMessage, err *protocol.Error) { c.pass(cmd, result, err) })
		return
	}
	turn := s.log.State.Turn
	switch {
	case d.Queue == protocol.QueueHold:
		c.desk.Fail(c.out, cmd, c.unsupported("a hold of the queue"))
		return
	case turn == nil || d.Turn != "" && d.Turn != turn.Turn:
		c.desk.Answer(c.out, cmd, protocol.InterruptResult{})
		return
	}
	if d.Queue == protocol.QueueClear {
		for _, m := range slices.Clone(s.log.State.Queue) {
			s.add(c, codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared}})
		}
	}
	f.Meta = nil
	c.say(f)
	result := protocol.InterruptResult{Interrupted: true, Turn: turn.Turn}
	c.asks = append(c.asks, &ask{event: actionTurn, session: s, due: c.now.Add(askWithin), then: func(_ json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.desk.Fail(c.out, cmd, err)
			return
		}
		c.desk.Answer(c.out, cmd, result)
	}})
}

// pass answers a command with what the server says.
func (c *client) pass(cmd *protocol.Command, result json.RawMessage, err *protocol.Error) {
	if err != nil {
		c.desk.Fail(c.out, cmd, err)
		return
	}
	c.desk.Answer(c.out, cmd, result)
}

// task cancels or restarts a task.
func (c *client) task(s *session, cmd *protocol.Command, d *protocol.TaskIDData) {
	f := frame{Session: s.foreign, Event: userCancelTask, Content: meta{"task_id": s.foreignID(d.Task)}, Meta: meta{}.with("key", cmd.Key)}
	if cmd.Command == protocol.DoTaskRestart {
		f.Event = userRestartTask
	}
	if c.can[canReply] {
		c.ask(f, s, func(result json.RawMessage, err *protocol.Error) { c.pass(cmd, result, err) })
		return
	}
	f.Meta = nil
	c.say(f)
	c.desk.Answer(c.out, cmd, protocol.Empty{})
}

// foreignID is a task's id as the server wrote it.
func (s *session) foreignID(task string) any {
	if s.whole[task] {
		return taskID(task)
	}
	return task
}
