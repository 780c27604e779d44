package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// handleCommand executes a command of the client.
func (c *clientCodec) handleCommand(cmd *protocol.Command) {
	switch {
	case cmd.Command == protocol.DoList, cmd.Command == protocol.DoWatch, cmd.Command == protocol.DoAck:
	case c.options.OneShot && !c.sawFrame:
		c.responder.Fail(c.out, cmd, protocol.Errorf(protocol.CodeTimeout, "no greeting: the server is busy, or does not speak %s", Name))
		return
	case c.options.OneShot && !c.capabilities[capReply]: // a MyAgent server
		c.responder.Fail(c.out, cmd, c.unsupported(string(cmd.Command)+": a session there ends with its connection, so attach to it, or send and wait"))
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
		if err := cmd.DecodeData(data); err != nil {
			c.responder.Fail(c.out, cmd, err)
			return
		}
		sub, _ := data.(*protocol.SubscribeData)
		c.openSession(cmd.Session, sub != nil && sub.Position != nil && sub.Position.Seq == 0, func(s *session, err *protocol.Error) {
			if err != nil {
				c.responder.Fail(c.out, cmd, err)
				return
			}
			c.current = s
			c.handleSessionCommand(s, cmd, data)
		})
	}
}

// handleSessionCommand executes a command in a session of this connection.
func (c *clientCodec) handleSessionCommand(s *session, cmd *protocol.Command, data any) {
	switch d := data.(type) {
	case *protocol.SubscribeData:
		s.log.Attach(c.out, &c.responder, cmd, c.now)
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
			c.responder.Answer(c.out, cmd, s.log.Snapshot())
		case protocol.DoExport:
			c.handleExport(s, cmd)
		}
	}
}

// handleList answers list and watch with the sessions that this client knows: the protocol has no
// session list.
func (c *clientCodec) handleList(cmd *protocol.Command) {
	var watch protocol.WatchData
	var list protocol.ListData
	var err error
	if cmd.Command == protocol.DoWatch {
		if err = cmd.DecodeData(&watch); err == nil {
			c.watched = !watch.Off
		}
	} else {
		err = cmd.DecodeData(&list)
	}
	if err != nil {
		c.responder.Fail(c.out, cmd, err)
		return
	}
	r := protocol.ListResult{Sessions: []protocol.Summary{}}
	for i := len(c.resume.sessions) - 1; i >= 0 && !watch.Off; i-- {
		s := c.resume.sessions[i]
		sum := s.log.Summary()
		if sum.Status == protocol.Closed && !list.Closed {
			continue
		}
		s.summary = protocol.MustEncode(sum)
		r.Sessions = append(r.Sessions, sum)
	}
	c.responder.Answer(c.out, cmd, r)
}

// handleAck acknowledges the frames behind the client's position, in both forms that servers read.
func (c *clientCodec) handleAck(cmd *protocol.Command) {
	var d protocol.AckData
	if err := cmd.DecodeData(&d); err != nil {
		c.responder.Fail(c.out, cmd, err)
		return
	}
	s := c.findSession(cmd.Session)
	if s == nil || !s.connected {
		return
	}
	if seq := c.acks.ack(s, d.Seq); seq > 0 {
		c.send(frame{Session: s.serverID, Event: userAck, Seq: seq, Content: meta{"last_seq": seq}})
	}
}

// handleUnsubscribe ends a subscription. The protocol has no frame for it, so the server keeps
// sending.
func (c *clientCodec) handleUnsubscribe(cmd *protocol.Command) {
	s := c.findSession(cmd.Session)
	if s == nil || !s.log.Following() {
		c.responder.Fail(c.out, cmd, protocol.Errorf(protocol.CodeNotSubscribed, "this connection does not follow session %s", cmd.Session))
		return
	}
	s.log.Detach()
	c.responder.Answer(c.out, cmd, protocol.Empty{})
}

// handleCreate creates a session. The protocol carries no working directory.
func (c *clientCodec) handleCreate(cmd *protocol.Command) {
	var d protocol.CreateData
	if err := cmd.DecodeData(&d); err != nil {
		c.responder.Fail(c.out, cmd, err)
		return
	}
	if len(d.Env) > 0 {
		c.responder.Fail(c.out, cmd, c.unsupported("the environment of an agent"))
		return
	}
	if c.options.OneShot && d.Name != "" { // the name would be lost with this client
		c.responder.Fail(c.out, cmd, c.unsupported("the name of a session: give a title"))
		return
	}
	title := d.Title
	if title == "" {
		title = d.Name
	}
	f := frame{Event: userCreateSession, Content: meta{}.with("title", title).with("agent", d.Agent), Meta: meta{}.with("key", cmd.Key)}
	if d.Agent == "" {
		f.Content = title
	}
	c.sendRequest(f, nil, func(result json.RawMessage, err *protocol.Error) {
		s := c.findSession(parseObject(result).str("session"))
		if err == nil && s == nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server began no session")
		}
		if err != nil {
			c.responder.Fail(c.out, cmd, err)
			return
		}
		s.addName(d.Name)
		r := protocol.CreateResult{Session: s.log.Session, Name: d.Name, Position: protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq}}
		if d.Prompt == "" {
			c.responder.Answer(c.out, cmd, r)
			return
		}
		c.sendMessage(s, cmd, &protocol.SendData{Text: d.Prompt, ClientMessageID: d.ClientMessageID}, func(sent protocol.SendResult) {
			r.Message = &sent
			c.responder.Answer(c.out, cmd, r)
		})
	})
}

func (c *clientCodec) unsupported(what string) *protocol.Error {
	return protocol.Errorf(protocol.CodeUnsupported, "the dialect %s cannot say %s", Name, what)
}

// handleExport requests a signed state. The client treats the whole of it as opaque.
func (c *clientCodec) handleExport(s *session, cmd *protocol.Command) {
	c.sendRequest(frame{Session: s.serverID, Event: userRequestState}, s, func(raw json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.responder.Fail(c.out, cmd, err)
			return
		}
		if len(raw) <= maxSigned {
			s.signedState = raw // for the next connection, in case the server loses the session
		}
		o := parseObject(raw)
		r := protocol.ExportResult{State: protocol.SignedState{Version: Name, State: raw, Signature: o.str("signature")}, Expires: c.now.Add(defaultStateTTL).UTC()}
		c.responder.Answer(c.out, cmd, r)
	})
}

// handleRestore creates a session from a signed state.
func (c *clientCodec) handleRestore(cmd *protocol.Command) {
	var d protocol.RestoreData
	err := cmd.DecodeData(&d)
	if err == nil && (d.State.Version != Name || parseObject(d.State.State) == nil) {
		err = protocol.Errorf(protocol.CodeInvalidState, "the state is not one of a server of the dialect %s", Name)
	}
	if err != nil {
		c.responder.Fail(c.out, cmd, err)
		return
	}
	state, _ := protocol.Compact(d.State.State)
	c.sendRequest(frame{Event: userReconnectState, Signed: state, Meta: meta{}.with("key", cmd.Key)}, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.responder.Fail(c.out, cmd, err)
			return
		}
		id := clipID(parseObject(result).str("session"))
		s := c.findSession(id)
		if s == nil {
			s = c.addSession(id)
		}
		s.addName(d.Name)
		r := protocol.CreateResult{Session: id, Name: d.Name, Position: protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq}}
		c.awaitReplay(s, func() { // a message sent earlier would land between replayed turns
			c.finishReplay(s, turnLeftBehind)
			c.responder.Answer(c.out, cmd, r)
		})
	})
}
