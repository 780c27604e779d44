package myagent

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// handleCreate creates a session. Any content becomes its title.
func (s *server) handleCreate(c *clientFrame) {
	if s.deferUntilJoined(func(*protocol.Error) { s.handleCreate(c) }) {
		return
	}
	o := parseObject(c.Content)
	title := o.str("title")
	if title == "" {
		title = contentText(c.Content)
	}
	if !s.checkRoom(c, "") {
		return
	}
	agent := o.str("agent", "agent_name")
	if agent == "" {
		agent = c.meta.str("agent_name")
	}
	data := protocol.CreateData{Title: protocol.SplitText(title, 1<<10)[0], Agent: s.options.Agent(agent)}
	arriving := s.startJoin()
	s.requests.Do(s.out, protocol.DoCreate, "", c.key(), data, func(a protocol.Answer) {
		var r protocol.CreateResult
		if a.Error == nil && (json.Unmarshal(a.Result, &r) != nil || r.Session == "") {
			a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
		}
		if a.Error != nil {
			s.sendRefusal(c, a.Error)
			s.finishJoin(arriving, "", a.Error)
			return
		}
		s.joinSession(c, arriving, r, false)
		s.sendReply(c, "", a.Result)
	})
}

// joinSession subscribes to a new session from its start.
func (s *server) joinSession(c *clientFrame, arriving *join, r protocol.CreateResult, restored bool) {
	from := protocol.Position{Epoch: r.Position.Epoch}
	s.subscribe(r.Session, &from, func(f *subscription, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.sendRefusal(c, err)
			s.finishJoin(arriving, "", err)
			return
		}
		f.restored = restored
		s.goLive(f, func(int) { s.finishJoin(arriving, r.Session, nil) })
	})
}

// handleReconnect subscribes to an existing session, from the frame that the client names or with a
// snapshot.
func (s *server) handleReconnect(c *clientFrame) {
	name := string(c.Session)
	if name == "" {
		name = parseObject(c.Content).str("session_id")
	}
	if name == "" {
		s.refuseInvalid(c, "session_id is missing")
		return
	}
	if f := s.findSubscription(name); f != nil {
		s.current = f.session
		s.sendReconnected(c, f, protocol.ModeSnapshot, nil)
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
	} else if connection, seq, found := c.lastReceived(); found && seq == 0 && connection == "" {
		from = &protocol.Position{} // the whole log
	}
	arriving := s.startJoin()
	s.subscribe(name, from, func(f *subscription, r *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.sendRefusal(c, err)
			s.finishJoin(arriving, "", err)
			return
		}
		mode := protocol.ModeSnapshot
		if r.Mode == protocol.ModeResume {
			mode = protocol.ModeResume
		}
		if known && mode == protocol.ModeResume {
			f.received = &had
		}
		s.aliases[string(c.Session)] = f.session
		s.sendReconnected(c, f, mode, r)
		s.finishJoin(arriving, f.session, nil)
	})
}

// sendReconnected announces a subscription and starts it. r is nil if it was live already.
func (s *server) sendReconnected(c *clientFrame, f *subscription, mode string, r *protocol.SubscribeResult) {
	m := meta{"action": actionReconnected, "mode": mode, "status": string(f.state.Status())}
	if mode == protocol.ModeSnapshot {
		// MyAgent's clients accept 1 MiB
		if state := protocol.MustEncode(f.state); len(state) <= maxSigned || c.meta.has("reply_to") {
			m["state"] = state
		}
	}
	n := notice("Reconnected", m)
	n.Session, n.Step = f.session, string(c.Step)
	s.send(n)
	if mode == protocol.ModeSnapshot {
		for i := range f.state.Approvals {
			fr := f.confirmFrame(&f.state.Approvals[i])
			fr.Session = f.session
			s.send(fr)
		}
	}
	result := protocol.MustEncode(meta{"session": f.session, "mode": mode})
	if r == nil {
		s.sendReply(c, f.session, result)
		return
	}
	s.goLive(f, func(replayed int) {
		n := notice("Caught up", meta{"action": actionReplay, "replayed": replayed, "count": replayed, "last_seq": s.seq, "last_event_id": eventID(s.id, s.seq)})
		n.Session = f.session
		s.send(n)
		s.sendReply(c, f.session, result)
	})
}

// resumePoint returns the last frame of a session that the client received. otherwise is the
// connection of a last_seq without one.
func (s *server) resumePoint(c *clientFrame, session, otherwise string) (frameOrigin, bool) {
	connection, seq, found := c.lastReceived()
	if connection == "" {
		connection = otherwise
	}
	if m := s.framesOf(connection); found && m != nil {
		return m.lastBefore(session, seq)
	}
	return frameOrigin{}, false
}

// framesOf returns the frames of a connection, or nil.
func (s *server) framesOf(connection string) *frameIndex {
	switch {
	case connection == s.id:
		return s.sentFrames
	case s.options.Resume == nil || connection == "":
		return nil
	}
	m, _ := s.options.Resume.Get(connection).(*frameIndex)
	return m
}

// handleHistory replies with finished turns. It extends the protocol, for clients that send
// reply_to.
func (s *server) handleHistory(c *clientFrame) {
	o := parseObject(c.Content)
	d := protocol.HistoryData{Before: uint64(max(0, o.int("before"))), Limit: int(max(0, min(o.int("limit"), 100)))}
	s.withSession(c, func(f *subscription) { s.sendCommand(c, protocol.DoHistory, f.session, d, nil) })
}

// handleExport sends the signed state of the session.
func (s *server) handleExport(c *clientFrame) {
	s.withSession(c, func(f *subscription) {
		at := protocol.Position{Epoch: f.epoch, Seq: f.boundary}
		s.requests.Do(s.out, protocol.DoExport, f.session, "", nil, func(a protocol.Answer) {
			var r protocol.ExportResult
			if a.Error == nil && json.Unmarshal(a.Result, &r) != nil {
				a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
			}
			if a.Error != nil {
				s.sendRefusal(c, a.Error)
				return
			}
			step := int64(f.state.Turns)
			state, err := signState(carriedState{
				Session: f.session, Connection: s.id, Step: &step, Agent: string(f.state.Status()), Memory: "[]", Native: &r.State, Boundary: at,
				Created: f.state.Created.UTC().Format(protocol.TimeFormat),
			}, s.now, s.options.Sign)
			if err != nil {
				s.sendRefusal(c, protocol.AsError(err))
				return
			}
			s.send(frame{
				Session: f.session, Step: string(c.Step), Event: agentStateExported, Content: "State exported", Show: showExported,
				Meta: meta{"signed_state": state, "expires": s.now.Add(s.stateTTL).UTC().Format(protocol.TimeFormat)}.with("reply_to", c.meta.str("reply_to")),
			})
		})
	})
}

// handleRestore creates a session from a signed state and replays what the client missed of the old
// one, which continues to exist.
func (s *server) handleRestore(c *clientFrame) {
	if s.deferUntilJoined(func(*protocol.Error) { s.handleRestore(c) }) {
		return
	}
	raw := c.Signed
	for _, o := range []fields{parseObject(c.Content), c.meta} {
		if parseObject(raw) == nil {
			raw = o["signed_state"]
		}
	}
	if parseObject(raw) == nil {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidState, "Missing signed_state in reconnect request"))
		return
	}
	state, err := verifyState(raw, s.now, s.stateTTL, s.options.Sign)
	if err != nil {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidState, "Invalid state: %s", err))
		return
	}
	if !s.checkRoom(c, "") {
		return
	}
	arriving := s.startJoin()
	s.requests.Do(s.out, protocol.DoRestore, "", c.key(), protocol.RestoreData{State: *state.Native}, func(a protocol.Answer) {
		var r protocol.CreateResult
		if a.Error == nil && (json.Unmarshal(a.Result, &r) != nil || r.Session == "") {
			a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
		}
		if a.Error != nil {
			if a.Error.Code == protocol.CodeInvalidState {
				a.Error.Message = fmt.Sprintf("Invalid state: %s", a.Error.Message)
			}
			s.sendRefusal(c, a.Error)
			s.finishJoin(arriving, "", a.Error)
			return
		}
		s.send(frame{
			Session: r.Session, Step: string(c.Step), Event: agentStateRestored, Content: "State restored successfully", Show: showRestored,
			Meta: meta{"original_session_id": state.Session, "current_step": *state.Step, "position": r.Position}.with("reply_to", c.meta.str("reply_to")),
		})
		s.replayOldSession(c, arriving, state, r)
	})
}

// replayOldSession replays the old session in the new one, then attaches the new one.
func (s *server) replayOldSession(c *clientFrame, arriving *join, state *carriedState, r protocol.CreateResult) {
	from := state.Boundary
	rp := &replay{target: r.Session, connection: state.Connection, done: func() { s.joinSession(c, arriving, r, true) }}
	if had, known := s.resumePoint(c, state.Session, state.Connection); known {
		rp.received, from = &had, protocol.Position{Epoch: had.position.Epoch, Seq: had.boundary}
	}
	if connection, _, _ := c.lastReceived(); connection != "" {
		rp.connection = connection
	}
	rp.sentFrames = s.framesOf(rp.connection)
	s.subscribe(state.Session, &from, func(f *subscription, at *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil || f.replay != nil {
			s.sendNothingToReplay(r.Session)
			rp.done()
			return
		}
		if at.Mode != protocol.ModeResume {
			rp.received = nil
		}
		rp.epoch, rp.state = at.Position.Epoch, cloneState(f.baseState(at))
		f.replay = rp
	})
}

// cloneState returns a deep copy.
func cloneState(s *protocol.State) *protocol.State {
	c := new(protocol.State)
	_ = json.Unmarshal(protocol.MustEncode(s), c) // agentctl's own encoding
	return c
}
