package client

import (
	"cmp"
	"fmt"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// handleCommand executes a command of the client.
func (c *Conn) handleCommand(cmd *protocol.Command) {
	if saved, known := c.resume.answers.Get(cmd.Key); known && cmd.Key != "" {
		if saved.body != commandBody(cmd) {
			c.Failf(cmd, protocol.CodeKeyReused, "the key was used for another command")
			return
		}
		if err, failed := saved.result.(*protocol.Error); failed {
			c.Fail(cmd, err)
			return
		}
		c.Answer(cmd, saved.result)
		return
	}
	if c.attach(cmd) {
		return
	}
	switch cmd.Command {
	case protocol.DoPing:
		c.ping(ping{command: cmd}, "")
		return
	case protocol.DoCreate:
		c.handleCreate(cmd)
		return
	case protocol.DoList:
		c.Answer(cmd, c.listSessions())
		return
	case protocol.DoWatch:
		c.handleWatch(cmd)
		return
	}
	s, ok := c.sessionFor(cmd)
	if !ok {
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		// a turn may end before the client has caught up
		if c.Options.OneShot && len(s.requests) < maxRequests && c.requestUpdates(s) {
			c.addRequest(s, &request{command: cmd, verb: protocol.DoSnapshot, deadline: c.Now.Add(errorTimeout)})
			return
		}
	case protocol.DoSnapshot, protocol.DoHistory, protocol.DoApprove:
		if len(s.requests) < maxRequests && c.requestUpdates(s) { // learn the current state first
			c.addRequest(s, &request{command: cmd, verb: protocol.DoSnapshot, deadline: c.Now.Add(errorTimeout)})
			return
		}
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.requestUpdates(s)
		c.Subscribe(cmd, s.log)
	case protocol.DoUnsubscribe:
		c.Unsubscribe(cmd, s.log)
	case protocol.DoSnapshot:
		c.AnswerSnapshot(cmd, s.log)
	case protocol.DoHistory:
		c.AnswerHistory(cmd, s.log)
	case protocol.DoSend:
		c.handleSend(s, cmd)
	case protocol.DoInterrupt:
		c.handleInterrupt(s, cmd)
	case protocol.DoApprove:
		c.handleApprove(s, cmd)
	default:
		c.handleQueueCommand(s, cmd)
	}
}

func (c *Conn) listSessions() protocol.ListResult {
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for _, s := range c.resume.sessions {
		r.Sessions = append(r.Sessions, s.summary())
	}
	return r
}

func (c *Conn) handleWatch(cmd *protocol.Command) {
	var d protocol.WatchData
	if !c.DecodeData(cmd, &d) {
		return
	}
	c.Watching = !d.Off
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	if c.Watching {
		r = c.listSessions()
	}
	for _, s := range c.resume.sessions {
		s.publishedSeq = s.log.State.Seq
	}
	c.Answer(cmd, r)
}

// textOnly names the unsupported kinds of content.
const textOnly = "message parts other than text"

// defaultDomain is the domain in the protocol's document.
const defaultDomain = "software_development"

func (c *Conn) handleCreate(cmd *protocol.Command) {
	var d protocol.CreateData
	if !c.DecodeData(cmd, &d) {
		return
	}
	// A one-shot client ends before it could use them.
	unused := c.Options.OneShot && (d.Name != "" || d.Title != "")
	if unused || len(d.Env)+len(d.Settings)+len(d.Load)+len(d.Labels) > 0 || d.Policy != nil {
		c.FailUnsupported(cmd, "the name, title, labels, environment, settings, policy or stored session of an agent")
		return
	}
	if len(d.Parts) > 0 {
		c.FailUnsupported(cmd, textOnly)
		return
	}
	if len(c.creating) >= maxRequests {
		c.Fail(cmd, codec.TooMany(maxRequests))
		return
	}
	if d.Name != "" && c.findSession(d.Name) != nil {
		c.Failf(cmd, protocol.CodeNameTaken, "another session is called %q", d.Name)
		return
	}
	domain := cmp.Or(d.Agent, c.Options.Options["domain"], defaultDomain)
	c.creating = append(c.creating, &creation{cmd, d, domain, c.Now.Add(answerTimeout)})
	c.send(wire.Frame{Type: wire.TypeStart, Payload: wire.StartPayload{Domain: domain}})
}

// handleStarted handles conversation_started, the answer to the oldest creation.
func (c *Conn) handleStarted(m wire.Message) {
	id := m.Conversation()
	if len(c.creating) == 0 || id == "" {
		c.recordRaw(c.lastSession, wire.TypeStarted, protocol.MustEncode(m))
		return
	}
	created := c.creating[0]
	c.creating = c.creating[1:]
	agent := m.Payload().Name("activeAgent")
	if agent == "" {
		agent = created.domain
	}
	s := c.sessionByID(id)
	if s == nil {
		s = c.addSession(id, protocol.SessionCreatedData{
			Name: created.data.Name, Title: created.data.Title,
			Agent: agent,
		})
	}
	if s == nil {
		c.Fail(created.command, tooManySessions())
		return
	}
	c.lastSession, s.updatesRequested = s, true
	r := &protocol.CreateResult{Session: id, Name: created.data.Name}
	if created.data.Prompt != "" && s.turn == nil {
		m := protocol.Message{
			MessageID: c.Options.ID("m"), ClientMessageID: created.data.ClientMessageID, Text: created.data.Prompt,
			By: c.User(),
		}
		c.sendMessage(s, &request{command: created.command, message: m, created: r})
		return
	}
	c.answerCreate(s, created.command, r)
}

func (c *Conn) handleSend(s *session, cmd *protocol.Command) {
	var d protocol.SendData
	switch {
	case !c.DecodeData(cmd, &d):
		return
	case len(d.Parts) > 0:
		c.FailUnsupported(cmd, textOnly)
		return
	case d.NotBefore != nil:
		c.FailUnsupported(cmd, string(codec.SendAt))
		return
	case d.Front && c.Options.OneShot:
		c.FailUnsupported(cmd, "sending ahead of the queue: "+NoQueue)
		return
	case d.Text == "":
		c.Failf(cmd, protocol.CodeInvalidMessage, "text: missing")
		return
	}
	m := protocol.Message{
		MessageID: c.Options.ID("m"), ClientMessageID: d.ClientMessageID, Text: protocol.ValidText(d.Text),
		By: c.User(),
	}
	state := s.log.State
	if s.turn == nil && s.findRequest(protocol.DoSend) == nil && len(state.Queue) == 0 && state.BlockingHold() == nil {
		c.sendMessage(s, &request{command: cmd, message: m})
		return
	}
	if c.Options.OneShot {
		c.FailUnsupported(cmd, "sending during a turn: the message would wait in a client that exits")
		return
	}
	if len(state.Queue) >= maxRequests {
		c.Fail(cmd, &protocol.Error{Code: protocol.CodeQueueFull, Message: "the queue is full", Limit: maxRequests})
		return
	}
	at := c.Now.UTC()
	m.QueuedAt = &at
	added := protocol.QueueAddedData{Message: m}
	index := len(state.Queue)
	if d.Front {
		index, added.Index = 0, new(int)
	}
	c.record(s, protocol.QueueAdded, m.By, added)
	c.answerOnce(cmd, protocol.SendResult{
		Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: state.Seq,
	})
}

func (c *Conn) handleInterrupt(s *session, cmd *protocol.Command) {
	var d protocol.InterruptData
	if !c.DecodeData(cmd, &d) {
		return
	}
	if c.Options.OneShot && d.Queue != "" && d.Queue != protocol.QueueKeep {
		c.FailUnsupported(cmd, fmt.Sprintf("interrupt and %s the queue: %s", d.Queue, NoQueue))
		return
	}
	c.startPendingTurn(s)
	if d.Turn != "" && (s.turn == nil || s.turn.id != d.Turn) {
		c.answerOnce(cmd, protocol.InterruptResult{})
		return
	}
	if len(s.requests) >= maxRequests {
		c.Fail(cmd, codec.TooMany(maxRequests))
		return
	}
	req := &request{command: cmd, verb: protocol.DoInterrupt, deadline: c.Now.Add(answerTimeout), queue: d.Queue}
	if s.turn != nil {
		req.turn = s.turn.id
	}
	s.cancelSeen = false
	c.send(wire.Frame{Type: wire.TypeCancel, Conversation: s.log.Session})
	c.addRequest(s, req)
}
