package client

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// handleCommand executes a command of the client.
func (c *Conn) handleCommand(cmd *protocol.Command) {
	switch {
	case cmd.Command == protocol.DoList, cmd.Command == protocol.DoWatch, cmd.Command == protocol.DoAck:
	case c.Options.OneShot && !c.sawFrame:
		c.Failf(cmd, protocol.CodeTimeout, "no greeting: the server is busy, or does not speak %s", wire.Name)
		return
	case c.Options.OneShot && !c.capabilities[wire.CapReply]: // a MyAgent server
		c.FailUnsupported(cmd,
			string(cmd.Command)+": its sessions end with their connection, so attach to one, or send and wait")
		return
	}
	switch cmd.Command {
	case protocol.DoList, protocol.DoWatch:
		c.handleList(cmd)
	case protocol.DoCreate:
		c.handleCreate(cmd)
	case protocol.DoRestore:
		c.handleRestore(cmd)
	case protocol.DoAck:
		c.handleAck(cmd)
	case protocol.DoUnsubscribe:
		c.handleUnsubscribe(cmd)
	default:
		data := protocol.CommandOf(cmd.Command).Data()
		if !c.DecodeData(cmd, data) {
			return
		}
		sub, _ := data.(*protocol.SubscribeData)
		fromStart := sub != nil && sub.Position != nil && sub.Position.Seq == 0
		c.openSession(cmd.Session, fromStart, func(s *session, err *protocol.Error) {
			if err != nil {
				c.Fail(cmd, err)
				return
			}
			c.current = s
			c.handleSessionCommand(s, cmd, data)
		})
	}
}

// handleSessionCommand executes a command in a session of this connection.
func (c *Conn) handleSessionCommand(s *session, cmd *protocol.Command, data any) {
	switch d := data.(type) {
	case *protocol.SubscribeData:
		c.Subscribe(cmd, s.log)
	case *protocol.HistoryData:
		c.handleHistory(s, cmd, d)
	case *protocol.SendData:
		c.handleSend(s, cmd, d)
	case *protocol.PlanRunData:
		c.handlePlanRun(s, cmd, d)
	case *protocol.InterruptData:
		c.handleInterrupt(s, cmd, d)
	case *protocol.ApproveData:
		c.handleApprove(s, cmd, d)
	case *protocol.TaskIDData:
		c.handleTask(s, cmd, d)
	default:
		switch cmd.Command {
		case protocol.DoSnapshot:
			c.AnswerSnapshot(cmd, s.log)
		case protocol.DoExport:
			c.handleExport(s, cmd)
		}
	}
}

// handleList answers list and watch with the sessions that this client knows: the protocol has no
// session list.
func (c *Conn) handleList(cmd *protocol.Command) {
	if cmd.Command == protocol.DoWatch {
		open := c.logs(false)
		c.AnswerWatch(cmd, open, nil)
		for _, s := range c.resume.sessions {
			if c.Watching && slices.Contains(open, s.log) {
				s.publishedSeq = s.log.State.Seq
			}
		}
		return
	}
	var d protocol.ListData
	if !c.DecodeData(cmd, &d) {
		return
	}
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for _, l := range c.logs(d.Closed) {
		r.Sessions = append(r.Sessions, l.Summary())
	}
	c.Answer(cmd, r)
}

// logs returns the logs of the known sessions, the most recently used one first.
func (c *Conn) logs(closed bool) (logs []*codec.Log) {
	for _, s := range slices.Backward(c.resume.sessions) {
		if closed || s.log.State.Status() != protocol.Closed {
			logs = append(logs, s.log)
		}
	}
	return logs
}

// handleAck acknowledges the frames behind the client's position, in both forms that servers read.
func (c *Conn) handleAck(cmd *protocol.Command) {
	var d protocol.AckData
	if !c.DecodeData(cmd, &d) {
		return
	}
	s := c.findSession(cmd.Session)
	if s == nil || !s.connected {
		return
	}
	if seq := c.acks.ack(s, d.Seq); seq > 0 {
		c.send(wire.Frame{Session: s.serverID, Event: wire.UserAck, Seq: seq, Content: wire.Meta{"last_seq": seq}})
	}
}

// handleUnsubscribe ends a subscription. The protocol has no frame for it, so the server keeps
// sending.
func (c *Conn) handleUnsubscribe(cmd *protocol.Command) {
	s := c.findSession(cmd.Session)
	if s == nil || !s.log.Following() {
		c.Failf(cmd, protocol.CodeNotSubscribed, "this connection does not follow session %s", cmd.Session)
		return
	}
	c.Unsubscribe(cmd, s.log)
}

// handleCreate creates a session. The protocol carries no working directory.
func (c *Conn) handleCreate(cmd *protocol.Command) {
	var d protocol.CreateData
	if !c.DecodeData(cmd, &d) {
		return
	}
	if len(d.Env)+len(d.Settings)+len(d.Load)+len(d.Labels) > 0 || d.Policy != nil {
		c.FailUnsupported(cmd, "the labels, environment, settings, policy or stored session of an agent")
		return
	}
	if len(d.Parts) > 0 {
		c.FailUnsupported(cmd, "parts in the first message of a session")
		return
	}
	if c.Options.OneShot && d.Name != "" { // the name would be lost with this client
		c.FailUnsupported(cmd, "session names: use a title")
		return
	}
	title := d.Title
	if title == "" {
		title = d.Name
	}
	f := wire.Frame{
		Event: wire.UserCreateSession, Content: wire.Meta{}.With("title", title).With("agent", d.Agent),
		Meta: wire.Meta{}.With("key", cmd.Key),
	}
	if d.Agent == "" {
		f.Content = title
	}
	c.sendRequest(f, nil, func(result json.RawMessage, err *protocol.Error) {
		s := c.findSession(wire.ParseObject(result).Str("session"))
		if err == nil && s == nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server created no session")
		}
		if err != nil {
			c.Fail(cmd, err)
			return
		}
		s.addName(d.Name)
		r := protocol.CreateResult{
			Session: s.log.Session, Name: d.Name, Position: protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq},
		}
		if d.Prompt == "" {
			c.Answer(cmd, r)
			return
		}
		prompt := &protocol.SendData{Text: d.Prompt, ClientMessageID: d.ClientMessageID}
		c.sendMessage(s, cmd, prompt, func(sent protocol.SendResult) {
			r.Message = &sent
			c.Answer(cmd, r)
		})
	})
}

// handleExport requests a signed state. The client treats the whole of it as opaque.
func (c *Conn) handleExport(s *session, cmd *protocol.Command) {
	f := wire.Frame{Session: s.serverID, Event: wire.UserRequestState}
	c.sendRequest(f, s, func(raw json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.Fail(cmd, err)
			return
		}
		if len(raw) <= wire.MaxSigned {
			s.signedState = raw // for the next connection, in case the server loses the session
		}
		o := wire.ParseObject(raw)
		r := protocol.ExportResult{
			State:   protocol.SignedState{Version: wire.Name, State: raw, Signature: o.Str("signature")},
			Expires: c.Now.Add(wire.DefaultStateTTL).UTC(),
		}
		c.Answer(cmd, r)
	})
}

// handleRestore creates a session from a signed state.
func (c *Conn) handleRestore(cmd *protocol.Command) {
	var d protocol.RestoreData
	err := cmd.DecodeData(&d)
	if err == nil && (d.State.Version != wire.Name || wire.ParseObject(d.State.State) == nil) {
		err = protocol.Errorf(protocol.CodeInvalidState, "the state is not from a server of the dialect %s", wire.Name)
	}
	if err != nil {
		c.Fail(cmd, err)
		return
	}
	state, _ := protocol.Compact(d.State.State)
	f := wire.Frame{Event: wire.UserReconnectState, Signed: state, Meta: wire.Meta{}.With("key", cmd.Key)}
	c.sendRequest(f, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.Fail(cmd, err)
			return
		}
		id := clipID(wire.ParseObject(result).Str("session"))
		s := c.findSession(id)
		if s == nil {
			s = c.addSession(id)
		}
		s.addName(d.Name)
		r := protocol.CreateResult{
			Session: id, Name: d.Name, Position: protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq},
		}
		c.awaitReplay(s, func() { // a message sent earlier would land between replayed turns
			c.finishReplay(s, turnLeftBehind)
			c.Answer(cmd, r)
		})
	})
}
