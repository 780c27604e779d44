package multiagent

import (
	"agentctl/protocol"
)

// command carries out a command of our client.
func (c *Client) command(cmd *protocol.Command) {
	if kept, known := c.memory.answers[cmd.Key]; known && cmd.Key != "" {
		if kept.body != body(cmd) {
			c.fail(cmd, protocol.Errorf(protocol.CodeKeyReused, "the key was used with another body"))
			return
		}
		c.desk.Answer(c.out, cmd, kept.result)
		return
	}
	switch cmd.Command {
	case protocol.DoPing:
		if len(c.pings) < maxWaits {
			c.pings = append(c.pings, cmd)
		}
		c.say(frame{Type: typePing})
		return
	case protocol.DoCreate:
		c.create(cmd)
		return
	case protocol.DoList:
		c.desk.Answer(c.out, cmd, c.list())
		return
	case protocol.DoWatch:
		c.watch(cmd)
		return
	}
	t, ok := c.thread(cmd)
	if !ok {
		return
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		if c.call.OneShot && len(t.waits) < maxWaits && c.takeUp(t) { // it may be over as soon as it has caught up
			c.wait(t, &wait{command: cmd, verb: protocol.DoSnapshot, deadline: c.now.Add(patience)})
			return
		}
	case protocol.DoSnapshot, protocol.DoHistory, protocol.DoApprove:
		if len(t.waits) < maxWaits && c.takeUp(t) { // see first what there is
			c.wait(t, &wait{command: cmd, verb: protocol.DoSnapshot, deadline: c.now.Add(patience)})
			return
		}
	}
	switch cmd.Command {
	case protocol.DoSubscribe:
		c.takeUp(t)
		t.log.Attach(c.out, &c.desk, cmd, c.now)
	case protocol.DoUnsubscribe:
		t.log.Detach()
		c.desk.Answer(c.out, cmd, protocol.Empty{})
	case protocol.DoSnapshot:
		c.desk.Answer(c.out, cmd, t.log.Snapshot())
	case protocol.DoHistory:
		if d, ok := data[protocol.HistoryData](c, cmd); ok {
			c.desk.Answer(c.out, cmd, t.log.History(d))
		}
	case protocol.DoSend:
		c.send(t, cmd)
	case protocol.DoInterrupt:
		c.interrupt(t, cmd)
	case protocol.DoApprove:
		c.approve(t, cmd)
	default:
		c.arrange(t, cmd)
	}
}

// data reads what a command carries; when it cannot, the client is told.
func data[T any](c *Client, cmd *protocol.Command) (d T, ok bool) {
	if err := cmd.DecodeData(&d); err != nil {
		c.desk.Fail(c.out, cmd, err)
		return d, false
	}
	return d, true
}

func (c *Client) list() protocol.ListResult {
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for _, t := range c.memory.threads {
		r.Sessions = append(r.Sessions, t.summary())
	}
	return r
}

func (c *Client) watch(cmd *protocol.Command) {
	d, ok := data[protocol.WatchData](c, cmd)
	if !ok {
		return
	}
	c.watching = !d.Off
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	if c.watching {
		r = c.list()
	}
	for _, t := range c.memory.threads {
		t.told = t.log.State.Seq
	}
	c.desk.Answer(c.out, cmd, r)
}

// defaultDomain is the one that the dialect's document shows.
const defaultDomain = "software_development"

func (c *Client) create(cmd *protocol.Command) {
	d, ok := data[protocol.CreateData](c, cmd)
	if !ok {
		return
	}
	if len(d.Env) > 0 || c.call.OneShot && (d.Name != "" || d.Title != "") { // which nobody would know any more
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say the name, title or environment of a session", Name))
		return
	}
	if len(c.creating) >= maxWaits {
		c.fail(cmd, protocol.Errorf(protocol.CodeTooMany, "too many sessions are being made"))
		return
	}
	if d.Name != "" && c.named(d.Name) != nil {
		c.fail(cmd, protocol.Errorf(protocol.CodeNameTaken, "another session is called %q", d.Name))
		return
	}
	of := d.Agent
	if of == "" {
		of = c.call.Options["domain"]
	}
	if of == "" {
		of = defaultDomain
	}
	c.creating = append(c.creating, &creation{cmd, d, of, c.now.Add(longest)})
	c.say(frame{Type: typeStart, Payload: domain{of}})
}

// created takes the conversation that was started.
func (c *Client) created(h heard) {
	id := h.conversation()
	if len(c.creating) == 0 || id == "" {
		c.raw(c.last, typeStarted, protocol.MustEncode(h))
		return
	}
	made := c.creating[0]
	c.creating = c.creating[1:]
	agent := h.body().word("activeAgent")
	if agent == "" {
		agent = made.domain
	}
	t := c.heardOf(id)
	if t == nil {
		t = c.begin(id, protocol.SessionCreatedData{Name: made.data.Name, Title: made.data.Title, Agent: agent})
	}
	if t == nil {
		c.fail(made.command, protocol.Errorf(protocol.CodeTooMany, "too many sessions for one client of this dialect"))
		return
	}
	c.last, t.taken = t, true
	r := protocol.CreateResult{Session: id, Name: made.data.Name}
	if made.data.Prompt != "" && t.turn == nil {
		m := protocol.Message{MessageID: c.call.ID("m"), ClientMessageID: made.data.ClientMessageID, Text: made.data.Prompt, By: c.me()}
		c.post(t, m, nil)
		r.Message = &protocol.SendResult{Status: protocol.SendStarted, MessageID: m.MessageID, Turn: t.turn.id, Seq: t.log.State.Turn.First}
	}
	r.Position = protocol.Position{Epoch: t.log.Epoch, Seq: t.log.State.Seq}
	c.settle(made.command, r)
}

func (c *Client) send(t *thread, cmd *protocol.Command) {
	d, ok := data[protocol.SendData](c, cmd)
	switch {
	case !ok:
		return
	case len(d.Parts) > 0:
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s carries text alone", Name))
		return
	case d.Front && c.call.OneShot:
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say send ahead of the queue: %s", Name, noQueue))
		return
	case d.Text == "":
		c.fail(cmd, protocol.Errorf(protocol.CodeInvalidMessage, "text: missing"))
		return
	}
	m := protocol.Message{MessageID: c.call.ID("m"), ClientMessageID: d.ClientMessageID, Text: protocol.ValidText(d.Text), By: c.me()}
	state := t.log.State
	if t.turn == nil && t.waiting(protocol.DoSend) == nil && len(state.Queue) == 0 && state.BlockingHold() == nil {
		c.post(t, m, cmd)
		return
	}
	if c.call.OneShot {
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported,
			"the dialect %s cannot say a message while a turn is under way: it would wait in a client that is gone", Name))
		return
	}
	if len(state.Queue) >= maxWaits {
		c.fail(cmd, &protocol.Error{Code: protocol.CodeTooMany, Message: "the queue is full", Limit: maxWaits})
		return
	}
	at := c.now.UTC()
	m.QueuedAt = &at
	added := protocol.QueueAddedData{Message: m}
	index := len(state.Queue)
	if d.Front {
		index, added.Index = 0, new(int)
	}
	c.add(t, protocol.QueueAdded, m.By, added)
	c.settle(cmd, protocol.SendResult{Status: protocol.SendQueued, MessageID: m.MessageID, Index: &index, Seq: state.Seq})
}

func (c *Client) interrupt(t *thread, cmd *protocol.Command) {
	d, ok := data[protocol.InterruptData](c, cmd)
	if !ok {
		return
	}
	if c.call.OneShot && d.Queue != "" && d.Queue != protocol.QueueKeep {
		c.fail(cmd, protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say interrupt and %s the queue: %s", Name, d.Queue, noQueue))
		return
	}
	if w := t.waiting(protocol.DoSend); w != nil && t.unwait(w) {
		c.accept(t, w)
	}
	if d.Turn != "" && (t.turn == nil || t.turn.id != d.Turn) {
		c.settle(cmd, protocol.InterruptResult{})
		return
	}
	if len(t.waits) >= maxWaits {
		c.fail(cmd, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
		return
	}
	w := &wait{command: cmd, verb: protocol.DoInterrupt, deadline: c.now.Add(longest), queue: d.Queue}
	if t.turn != nil {
		w.turn = t.turn.id
	}
	t.quiet = false
	c.say(frame{Type: typeCancel, Conversation: t.log.Session})
	c.wait(t, w)
}
