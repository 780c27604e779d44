package multiagent

import (
	"agentctl/protocol"
)

// handleCommand executes a command of the client.
func (c *client) handleCommand(cmd *protocol.Command) {
	if kept, known := c.resume.answers[cmd.Key]; known && cmd.Key != "" {
		if kept.body != commandBody(cmd) {
			c.fail(cmd, protocol.Errorf(protocol.CodeKeyReused, "the key was used with another body"))
			return
		}
		c.responder.Answer(c.out, cmd, kept.result)
		return
	}
	switch cmd.Command {
	case protocol.DoPing:
		if len(c.pings) < maxRequests {
			c.pings = append(c.pings, cmd)
		}
		c.send(frame{Type: typePing})
		return
	case protocol.DoCreate:
		c.handleCreate(cmd)
		return
	case protocol.DoList:
		c.responder.Answer(c.out, cmd, c.listSessions())
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
		if c.options.OneShot && len(s.requests) < maxRequests && c.requestUpdates(s) {
			c.addRequest(s, &request{command: cmd, verb: protocol.DoSnapshot, deadline: c.now.Add(errorTimeout)})
			return
		}
	case protocol.DoSnapshot, protocol.DoHistory, protocol.DoApprove:
		if len(s.requests) < maxRequests && c.requestUpdates(s) { // learn the current state first
			c.addRequest(s, &request{command: cmd, verb: protocol.DoSnapshot, deadline: c.now.Add(errorTimeout)})
			return
		}
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.requestUpdates(s)
		s.log.Attach(c.out, &c.responder, cmd, c.now)
	case protocol.DoUnsubscribe:
		s.log.Detach()
		c.responder.Answer(c.out, cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		c.responder.Answer(c.out, cmd, s.log.Snapshot())
	case protocol.DoHistory:
		if d, ok := decodeData[protocol.HistoryData](c, cmd); ok {
			c.responder.Answer(c.out, cmd, s.log.History(d))
		}
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

// decodeData decodes the data of a command. If it is invalid, the command fails and ok is false.
func decodeData[T any](c *client, cmd *protocol.Command) (d T, ok bool) {
	if err := cmd.DecodeData(&d); err != nil {
		c.responder.Fail(c.out, cmd, err)
		return d, false
	}
	return d, true
}

func (c *client) listSessions() protocol.ListResult {
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for _, s := range c.resume.sessions {
		r.Sessions = append(r.Sessions, s.summary())
	}
	return r
}

func (c *client) handleWatch(cmd *protocol.Command) {
	d, ok := decodeData[protocol.WatchData](c, cmd)
	if !ok {
		return
	}
	c.watching = !d.Off
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	if c.watching {
		r = c.listSessions()
	}
	for _, s := range c.resume.sessions {
		s.publishedSeq = s.log.State.Seq
	}
	c.responder.Answer(c.out, cmd, r)
}

// defaultDomain is the domain in the protocol's document.
const defaultDomain = "software_development"

func (c *client) handleCreate(cmd *protocol.Command) {
	d, ok := decodeData[protocol.CreateData](c, cmd)
	if !ok {
		return
	}
	// the client is gone before it could use them
	if len(d.Env) > 0 || c.options.OneShot && (d.Name != "" || d.Title != "") {
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say the name, title or environment of a session", Name))
		return
	}
	if len(c.creating) >= maxRequests {
		c.fail(cmd, protocol.Errorf(protocol.CodeTooMany, "too many sessions are being made"))
		return
	}
	if d.Name != "" && c.findSession(d.Name) != nil {
		c.fail(cmd, protocol.Errorf(protocol.CodeNameTaken, "another session is called %q", d.Name))
		return
	}
	of := d.Agent
	if of == "" {
		of = c.options.Options["domain"]
	}
	if of == "" {
		of = defaultDomain
	}
	c.creating = append(c.creating, &creation{cmd, d, of, c.now.Add(answerTimeout)})
	c.send(frame{Type: typeStart, Payload: startPayload{of}})
}

// handleStarted handles conversation_started, the answer to the oldest creation.
func (c *client) handleStarted(m message) {
	id := m.conversation()
	if len(c.creating) == 0 || id == "" {
		c.recordRaw(c.lastSession, typeStarted, protocol.MustEncode(m))
		return
	}
	made := c.creating[0]
	c.creating = c.creating[1:]
	agent := m.payload().name("activeAgent")
	if agent == "" {
		agent = made.domain
	}
	s := c.sessionByID(id)
	if s == nil {
		s = c.addSession(id, protocol.SessionCreatedData{Name: made.data.Name, Title: made.data.Title, Agent: agent})
	}
	if s == nil {
		c.fail(made.command, protocol.Errorf(protocol.CodeTooMany, "too many sessions for one client of this dialect"))
		return
	}
	c.lastSession, s.updatesRequested = s, true
	r := protocol.CreateResult{Session: id, Name: made.data.Name}
	if made.data.Prompt != "" && s.turn == nil {
		m := protocol.Message{MessageID: c.options.ID("m"), ClientMessageID: made.data.ClientMessageID, Text: made.data.Prompt, By: c.actor()}
		c.sendMessage(s, m, nil)
		r.Message = &protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: s.turn.id, Seq: s.log.State.Turn.First}
	}
	r.Position = protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq}
	c.answerOnce(made.command, r)
}

func (c *client) handleSend(s *session, cmd *protocol.Command) {
	d, ok := decodeData[protocol.SendData](c, cmd)
	switch {
	case !ok:
		return
	case len(d.Parts) > 0:
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s carries text alone", Name))
		return
	case d.Front && c.options.OneShot:
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say send ahead of the queue: %s", Name, noQueue))
		return
	case d.Text == "":
		c.fail(cmd, protocol.Errorf(protocol.CodeInvalidMessage, "text: missing"))
		return
	}
	m := protocol.Message{MessageID: c.options.ID("m"), ClientMessageID: d.ClientMessageID, Text: protocol.ValidText(d.Text), By: c.actor()}
	state := s.log.State
	if s.turn == nil && s.findRequest(protocol.DoSend) == nil && len(state.Queue) == 0 && state.Blocked() == nil {
		c.sendMessage(s, m, cmd)
		return
	}
	if c.options.OneShot {
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported,
			"the dialect %s cannot say a message while a turn is under way: it would wait in a client that is gone", Name))
		return
	}
	if len(state.Queue) >= maxRequests {
		c.fail(cmd, &protocol.Error{Code: protocol.CodeTooMany, Message: "the queue is full", Limit: maxRequests})
		return
	}
	at := c.now.UTC()
	m.QueuedAt = &at
	added := protocol.QueueAddedData{Message: m}
	index := len(state.Queue)
	if d.Front {
		index, added.Index = 0, new(int)
	}
	c.record(s, protocol.QueueAdded, m.By, added)
	c.answerOnce(cmd, protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: state.Seq})
}

func (c *client) handleInterrupt(s *session, cmd *protocol.Command) {
	d, ok := decodeData[protocol.InterruptData](c, cmd)
	if !ok {
		return
	}
	if c.options.OneShot && d.Queue != "" && d.Queue != protocol.QueueKeep {
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say interrupt and %s the queue: %s", Name, d.Queue, noQueue))
		return
	}
	if req := s.findRequest(protocol.DoSend); req != nil && s.removeRequest(req) {
		c.startTurn(s, req)
	}
	if d.Turn != "" && (s.turn == nil || s.turn.id != d.Turn) {
		c.answerOnce(cmd, protocol.InterruptResult{})
		return
	}
	if len(s.requests) >= maxRequests {
		c.fail(cmd, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
		return
	}
	req := &request{command: cmd, verb: protocol.DoInterrupt, deadline: c.now.Add(answerTimeout), queue: d.Queue}
	if s.turn != nil {
		req.turn = s.turn.id
	}
	s.cancelSeen = false
	c.send(frame{Type: typeCancel, Conversation: s.log.Session})
	c.addRequest(s, req)
}
