package myagent

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// create makes a session; whatever content there is becomes its title.
func (s *server) create(c *call) {
	if s.waits(func(*protocol.Error) { s.create(c) }) {
		return
	}
	o := object(c.Content)
	title := o.str("title")
	if title == "" {
		title = words(c.Content)
	}
	if !s.room(c, "") {
		return
	}
	agent := o.str("agent", "agent_name")
	if agent == "" {
		agent = c.meta.str("agent_name")
	}
	data := protocol.CreateData{Title: protocol.SplitText(title, 1<<10)[0], Agent: s.door.Agent(agent)}
	arriving := s.arrive()
	s.requests.Do(s.out, protocol.DoCreate, "", c.key(), data, func(a protocol.Answer) {
		var r protocol.CreateResult
		if a.Error == nil && (json.Unmarshal(a.Result, &r) != nil || r.Session == "") {
			a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
		}
		if a.Error != nil {
			s.refuse(c, a.Error)
			s.arrived(arriving, "", a.Error)
			return
		}
		s.enter(c, arriving, r, false)
		s.reply(c, "", a.Result)
	})
}

// enter follows a new session from its beginning.
func (s *server) enter(c *call, arriving *arrival, r protocol.CreateResult, restored bool) {
	from := protocol.Position{Epoch: r.Position.Epoch}
	s.attach(r.Session, &from, func(f *follow, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.refuse(c, err)
			s.arrived(arriving, "", err)
			return
		}
		f.restored = restored
		s.begin(f, func(int) { s.arrived(arriving, r.Session, nil) })
	})
}

// reconnect follows a session that exists: from the frame that the client names, or with a fresh snapshot.
func (s *server) reconnect(c *call) {
	name := string(c.Session)
	if name == "" {
		name = object(c.Content).str("session_id")
	}
	if name == "" {
		s.invalid(c, "session_id is missing")
		return
	}
	if f := s.followed(name); f != nil {
		s.current = f.session
		s.reconnected(c, f, protocol.ModeSnapshot, nil)
		return
	}
	if s.waits(func(*protocol.Error) { s.reconnect(c) }) || !s.room(c, name) {
		return
	}
	var from *protocol.Position
	had, known := s.seen(c, name, "")
	if known {
		from = &protocol.Position{Epoch: had.at.Epoch, Seq: had.boundary}
		name = had.session
	} else if connection, seq, said := c.lastSeen(); said && seq == 0 && connection == "" {
		from = &protocol.Position{} // the whole log
	}
	arriving := s.arrive()
	s.attach(name, from, func(f *follow, r *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.refuse(c, err)
			s.arrived(arriving, "", err)
			return
		}
		mode := protocol.ModeSnapshot
		if r.Mode == protocol.ModeResume {
			mode = protocol.ModeResume
		}
		if known && mode == protocol.ModeResume {
			f.had = &had
		}
		s.names[string(c.Session)] = f.session
		s.reconnected(c, f, mode, r)
		s.arrived(arriving, f.session, nil)
	})
}

// reconnected says how a session is followed and begins; r is nil when it was followed already.
func (s *server) reconnected(c *call, f *follow, mode string, r *protocol.SubscribeResult) {
	m := meta{"action": actionReconnected, "mode": mode, "status": string(f.state.Status())}
	if mode == protocol.ModeSnapshot {
		if state := protocol.MustEncode(f.state); len(state) <= maxSigned || c.meta.has("reply_to") { // MyAgent's clients take 1 MiB
			m["state"] = state
		}
	}
	n := noticeFrame("Reconnected", m)
	n.Session, n.Step = f.session, string(c.Step)
	s.send(n)
	if mode == protocol.ModeSnapshot {
		for i := range f.state.Approvals {
			fr := f.confirm(&f.state.Approvals[i])
			fr.Session = f.session
			s.send(fr)
		}
	}
	result := protocol.MustEncode(meta{"session": f.session, "mode": mode})
	if r == nil {
		s.reply(c, f.session, result)
		return
	}
	s.begin(f, func(replayed int) {
		n := noticeFrame("Caught up", meta{"action": actionReplay, "replayed": replayed, "count": replayed, "last_seq": s.seq, "last_event_id": eventID(s.id, s.seq)})
		n.Session = f.session
		s.send(n)
		s.reply(c, f.session, result)
	})
}

// seen returns the mark of the last frame of a session that the client says it has. otherwise is the connection of a last_seq
// that names none.
func (s *server) seen(c *call, session, otherwise string) (mark, bool) {
	connection, seq, said := c.lastSeen()
	if connection == "" {
		connection = otherwise
	}
	if m := s.left(connection); said && m != nil {
		return m.find(session, seq)
	}
	return mark{}, false
}

// left returns the marks of a connection, or nil.
func (s *server) left(connection string) *marks {
	switch {
	case connection == s.id:
		return s.marks
	case s.door.Resume == nil || connection == "":
		return nil
	}
	m, _ := s.door.Resume.Get(connection).(*marks)
	return m
}

// history tells finished turns, to who asks with reply_to: MyAgent has no word for it.
func (s *server) history(c *call) {
	o := object(c.Content)
	d := protocol.HistoryData{Before: uint64(max(0, o.int("before"))), Limit: int(max(0, min(o.int("limit"), 100)))}
	s.in(c, func(f *follow) { s.do(c, protocol.DoHistory, f.session, d, nil) })
}

// export signs the session's state and sends it.
func (s *server) export(c *call) {
	s.in(c, func(f *follow) {
		at := protocol.Position{Epoch: f.epoch, Seq: f.boundary}
		s.requests.Do(s.out, protocol.DoExport, f.session, "", nil, func(a protocol.Answer) {
			var r protocol.ExportResult
			if a.Error == nil && json.Unmarshal(a.Result, &r) != nil {
				a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
			}
			if a.Error != nil {
				s.refuse(c, a.Error)
				return
			}
			step := int64(f.state.Turns)
			state, err := seal(carried{
				Session: f.session, Connection: s.id, Step: &step, Agent: string(f.state.Status()), Memory: "[]", Native: &r.State, Boundary: at,
				Created: f.state.Created.UTC().Format(protocol.TimeFormat),
			}, s.now, s.door.Sign)
			if err != nil {
				s.refuse(c, protocol.AsError(err))
				return
			}
			s.send(frame{
				Session: f.session, Step: string(c.Step), Event: agentStateExported, Content: "State exported", Show: showExported,
				Meta: meta{"signed_state": state, "expires": s.now.Add(s.ttl).UTC().Format(protocol.TimeFormat)}.with("reply_to", c.meta.str("reply_to")),
			})
		})
	})
}

// restore makes a new session of a signed state and replays what the client missed of the old one, which lives on.
func (s *server) restore(c *call) {
	if s.waits(func(*protocol.Error) { s.restore(c) }) {
		return
	}
	raw := c.Signed
	for _, o := range []fields{object(c.Content), c.meta} {
		if object(raw) == nil {
			raw = o["signed_state"]
		}
	}
	if object(raw) == nil {
		s.refuse(c, protocol.Errorf(protocol.CodeInvalidState, "Missing signed_state in reconnect request"))
		return
	}
	state, err := unseal(raw, s.now, s.ttl, s.door.Sign)
	if err != nil {
		s.refuse(c, protocol.Errorf(protocol.CodeInvalidState, "Invalid state: %s", err))
		return
	}
	if !s.room(c, "") {
		return
	}
	arriving := s.arrive()
	s.requests.Do(s.out, protocol.DoRestore, "", c.key(), protocol.RestoreData{State: *state.Native}, func(a protocol.Answer) {
		var r protocol.CreateResult
		if a.Error == nil && (json.Unmarshal(a.Result, &r) != nil || r.Session == "") {
			a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
		}
		if a.Error != nil {
			if a.Error.Code == protocol.CodeInvalidState {
				a.Error.Message = fmt.Sprintf("Invalid state: %s", a.Error.Message)
			}
			s.refuse(c, a.Error)
			s.arrived(arriving, "", a.Error)
			return
		}
		s.send(frame{
			Session: r.Session, Step: string(c.Step), Event: agentStateRestored, Content: "State restored successfully", Show: showRestored,
			Meta: meta{"original_session_id": state.Session, "current_step": *state.Step, "position": r.Position}.with("reply_to", c.meta.str("reply_to")),
		})
		s.repeat(c, arriving, state, r)
	})
}

// repeat replays the old session for the new one, and goes on with that.
func (s *server) repeat(c *call, arriving *arrival, state *carried, r protocol.CreateResult) {
	from := state.Boundary
	rp := &replay{target: r.Session, connection: state.Connection, then: func() { s.enter(c, arriving, r, true) }}
	if had, known := s.seen(c, state.Session, state.Connection); known {
		rp.had, from = &had, protocol.Position{Epoch: had.at.Epoch, Seq: had.boundary}
	}
	if connection, _, _ := c.lastSeen(); connection != "" {
		rp.connection = connection
	}
	rp.marks = s.left(rp.connection)
	s.attach(state.Session, &from, func(f *follow, at *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil || f.replay != nil {
			s.nothing(r.Session)
			rp.then()
			return
		}
		if at.Mode != protocol.ModeResume {
			rp.had = nil
		}
		rp.epoch, rp.state = at.Position.Epoch, clone(f.first(at))
		f.replay = rp
	})
}

// clone returns a copy that shares nothing.
func clone(s *protocol.State) *protocol.State {
	c := new(protocol.State)
	_ = json.Unmarshal(protocol.MustEncode(s), c) // our own encoding
	return c
}
