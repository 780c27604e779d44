package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// handleCreate creates a session. Any content becomes its title.
func (s *Conn) handleCreate(c *request) {
	if s.deferUntilJoined(func(*protocol.Error) { s.handleCreate(c) }) {
		return
	}
	o := wire.ParseObject(c.Content)
	title := o.Str("title")
	if title == "" {
		title = wire.Text(c.Content)
	}
	if !s.checkRoom(c, "") {
		return
	}
	agent := o.Str("agent", "agent_name")
	if agent == "" {
		agent = c.meta.Str("agent_name")
	}
	data := protocol.CreateData{Title: protocol.SplitText(title, 1<<10)[0], Agent: s.Options.Agent(agent)}
	j := s.startJoin()
	s.Request(protocol.DoCreate, "", c.key(), data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.CreateResult](a)
		if err != nil {
			s.sendRefusal(c, err)
			s.finishJoin(j, "", err)
			return
		}
		s.joinSession(c, j, r, false)
		s.sendReply(c, "", a.Result)
	})
}

// joinSession subscribes to a new session from its start. It subscribes to a restored one from the
// end of its last turn: the client has the turns before.
func (s *Conn) joinSession(c *request, j *join, r protocol.CreateResult, restored bool) {
	from := &protocol.Position{Epoch: r.Position.Epoch}
	if restored {
		from = nil
	}
	s.subscribe(r.Session, from, func(sub *subscription, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.sendRefusal(c, err)
			s.finishJoin(j, "", err)
			return
		}
		sub.restored = restored
		s.goLive(sub, func(int) { s.finishJoin(j, r.Session, nil) })
	})
}

// handleReconnect subscribes to an existing session, from the frame that the client names or with a
// snapshot.
func (s *Conn) handleReconnect(c *request) {
	name := string(c.Session)
	if name == "" {
		name = wire.ParseObject(c.Content).Str("session_id")
	}
	if name == "" {
		s.refuseInvalid(c, "session_id is missing")
		return
	}
	if sub := s.findSubscription(name); sub != nil {
		s.current = sub.session
		s.sendReconnected(c, sub, protocol.ModeSnapshot, nil)
		return
	}
	if s.deferUntilJoined(func(*protocol.Error) { s.handleReconnect(c) }) || !s.checkRoom(c, name) {
		return
	}
	var from *protocol.Position
	had, known := s.resumePoint(c, name, "")
	if known {
		from = &protocol.Position{Epoch: had.position.Epoch, Seq: had.boundary}
		name = had.session
	} else if connection, seq, found := c.LastReceived(); found && seq == 0 && connection == "" {
		from = &protocol.Position{} // the whole log
	}
	j := s.startJoin()
	s.subscribe(name, from, func(sub *subscription, r *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.sendRefusal(c, err)
			s.finishJoin(j, "", err)
			return
		}
		mode := protocol.ModeSnapshot
		if r.Mode == protocol.ModeResume {
			mode = protocol.ModeResume
		}
		if known && mode == protocol.ModeResume {
			sub.received = &had
		}
		s.aliases[string(c.Session)] = sub.session
		s.sendReconnected(c, sub, mode, r)
		s.finishJoin(j, sub.session, nil)
	})
}

// sendReconnected announces a subscription and starts it. r is nil if it was live already.
func (s *Conn) sendReconnected(c *request, sub *subscription, mode string, r *protocol.SubscribeResult) {
	m := wire.Meta{"action": wire.ActionReconnected, "mode": mode, "status": string(sub.state.Status())}
	if mode == protocol.ModeSnapshot {
		// MyAgent's clients accept 1 MiB
		if state := protocol.MustEncode(sub.state); len(state) <= wire.MaxSigned || c.meta.Has("reply_to") {
			m["state"] = state
		}
	}
	n := notice("Reconnected", m)
	n.Session, n.Step = sub.session, wire.StepID(string(c.Step))
	s.send(n)
	if mode == protocol.ModeSnapshot {
		for i := range sub.state.Approvals {
			fr := sub.confirmFrame(&sub.state.Approvals[i])
			fr.Session = sub.session
			s.send(fr)
		}
	}
	result := protocol.MustEncode(wire.Meta{"session": sub.session, "mode": mode})
	if r == nil {
		s.sendReply(c, sub.session, result)
		return
	}
	s.goLive(sub, func(replayed int) {
		n := notice("Caught up", wire.Meta{
			"action": wire.ActionReplay, "replayed": replayed, "count": replayed, "last_seq": s.seq,
			"last_event_id": wire.EventID(s.id, s.seq),
		})
		n.Session = sub.session
		s.send(n)
		s.sendReply(c, sub.session, result)
	})
}

// resumePoint returns the last frame of a session that the client received. otherwise is the
// connection of a last_seq without one.
func (s *Conn) resumePoint(c *request, session, otherwise string) (frameOrigin, bool) {
	connection, seq, found := c.LastReceived()
	if connection == "" {
		connection = otherwise
	}
	if m := s.framesOf(connection); found && m != nil {
		return m.lastBefore(session, seq)
	}
	return frameOrigin{}, false
}

// framesOf returns the frames of a connection, or nil.
func (s *Conn) framesOf(connection string) *frameIndex {
	switch {
	case connection == s.id:
		return s.sentFrames
	case s.Options.Resume == nil || connection == "":
		return nil
	}
	m, _ := s.Options.Resume.Get(connection).(*frameIndex)
	return m
}

// handleHistory replies with finished turns. It extends the protocol, for clients that send
// reply_to.
func (s *Conn) handleHistory(c *request) {
	o := wire.ParseObject(c.Content)
	d := protocol.HistoryData{Before: uint64(max(0, o.Int("before"))), Limit: int(max(0, min(o.Int("limit"), 100)))}
	s.withSession(c, func(sub *subscription) { s.sendCommand(c, protocol.DoHistory, sub.session, d, nil) })
}

// handleExport sends the signed state of the session.
func (s *Conn) handleExport(c *request) {
	s.withSession(c, func(sub *subscription) {
		at := protocol.Position{Epoch: sub.epoch, Seq: sub.boundary}
		s.Request(protocol.DoExport, sub.session, "", nil, func(a protocol.Answer) {
			r, refused := codec.DecodeResult[protocol.ExportResult](a)
			if refused != nil {
				s.sendRefusal(c, refused)
				return
			}
			step := int64(sub.state.Turns)
			pending := []any{}
			for i := range sub.state.Approvals {
				pending = append(pending, wire.ConfirmStep(&sub.state.Approvals[i]))
			}
			status, agent := string(sub.state.Status()), sub.state.Agent
			state, err := signState(carriedState{
				Session: sub.session, Connection: s.id, Step: &step, Agent: status, Memory: "[]",
				Native: &r.State, Boundary: at, Tools: wire.Meta{}, Pending: pending,
				Created: sub.state.Created.UTC().Format(protocol.TimeFormat),
				Active:  s.Now.UTC().Format(protocol.TimeFormat),
				Metadata: wire.Meta{
					"agent_name": agent, "session_state": status,
					"agent_config": wire.Meta{"name": agent, "description": "", "max_steps": 0},
				},
			}, s.Now, s.Options.Sign)
			if err != nil {
				s.sendRefusal(c, protocol.AsError(err))
				return
			}
			s.send(wire.Frame{
				Session: sub.session, Step: wire.StepID(string(c.Step)), Event: wire.AgentStateExported,
				Content: "State exported", Show: showExported,
				Meta: wire.Meta{
					"signed_state": state, "state_size": len(state), "message_count": sub.state.Turns,
					"current_step": step,
					"expires":      s.Now.Add(s.stateTTL).UTC().Format(protocol.TimeFormat),
				}.With("reply_to", c.meta.Str("reply_to")),
			})
		})
	})
}

// handleRestore creates a session from a signed state and replays what the client missed of the old
// one, which continues to exist.
func (s *Conn) handleRestore(c *request) {
	if s.deferUntilJoined(func(*protocol.Error) { s.handleRestore(c) }) {
		return
	}
	raw := c.Signed
	for _, o := range []wire.Fields{wire.ParseObject(c.Content), c.meta} {
		if wire.ParseObject(raw) == nil {
			raw = o["signed_state"]
		}
	}
	if wire.ParseObject(raw) == nil {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidState, "Missing signed_state in reconnect request"))
		return
	}
	state, err := verifyState(raw, s.Now, s.stateTTL, s.Options.Sign)
	if err != nil {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidState, "Invalid state: %s", err))
		return
	}
	if !s.checkRoom(c, "") {
		return
	}
	j := s.startJoin()
	s.Request(protocol.DoRestore, "", c.key(), protocol.RestoreData{State: *state.Native}, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.CreateResult](a)
		if err != nil {
			if err.Code == protocol.CodeInvalidState {
				err.Message = "Invalid state: " + err.Message
			}
			s.sendRefusal(c, err)
			s.finishJoin(j, "", err)
			return
		}
		s.send(wire.Frame{
			Session: r.Session, Step: wire.StepID(string(c.Step)), Event: wire.AgentStateRestored,
			Content: "State restored successfully", Show: showRestored,
			Meta: wire.Meta{
				"original_session_id": state.Session, "current_step": *state.Step, "restored_step": *state.Step,
				"message_count": *state.Step, "agent_name": state.agentName(), "warnings": []string{},
				"position": r.Position,
			}.With("reply_to", c.meta.Str("reply_to")),
		})
		s.replayOldSession(c, j, state, r)
	})
}

// replayOldSession replays the old session in the new one, then attaches the new one.
func (s *Conn) replayOldSession(c *request, j *join, state *carriedState, r protocol.CreateResult) {
	from := state.Boundary
	rp := &replay{target: r.Session, connection: state.Connection, done: func() { s.joinSession(c, j, r, true) }}
	if had, known := s.resumePoint(c, state.Session, state.Connection); known {
		rp.received, from = &had, protocol.Position{Epoch: had.position.Epoch, Seq: had.boundary}
	}
	if connection, _, _ := c.LastReceived(); connection != "" {
		rp.connection = connection
	}
	rp.sentFrames = s.framesOf(rp.connection)
	s.subscribe(state.Session, &from, func(sub *subscription, at *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil || sub.replay != nil {
			s.sendNothingToReplay(r.Session)
			rp.done()
			return
		}
		if at.Mode != protocol.ModeResume {
			rp.received = nil
		}
		rp.epoch, rp.state = at.Position.Epoch, codec.InitialState(at).Clone()
		sub.replay = rp
	})
}
