package server

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// An attacher attaches sessions to the connection: new, existing and restored ones.
type attacher struct {
	x        *exchange
	subs     *subscriptions
	joining  *join // nil: no session is being attached
	deferred int   // frames that wait for the join
}

// create creates a session. Any content becomes its title.
func (a *attacher) create(c *request) {
	if a.deferUntilJoined(func(*protocol.Error) { a.create(c) }) {
		return
	}
	o := wire.ParseObject(c.Content)
	title := o.Str("title")
	if title == "" {
		title = wire.Text(c.Content)
	}
	if !a.checkRoom(c, "") {
		return
	}
	agent := o.Str("agent", "agent_name")
	if agent == "" {
		agent = c.meta.Str("agent_name")
	}
	data := protocol.CreateData{Title: protocol.SplitText(title, 1<<10)[0], Agent: a.x.Options.Agent(agent)}
	j := a.startJoin()
	a.x.Request(protocol.DoCreate, "", c.key(), data, func(answer protocol.Answer) {
		r, err := codec.DecodeResult[protocol.CreateResult](answer)
		if err != nil {
			c.refuse(err)
			a.finishJoin(j, "", err)
			return
		}
		a.joinSession(c, j, r, false)
		c.reply("", answer.Result)
	})
}

// joinSession subscribes to a new session from its start. It subscribes to a restored one from the
// end of its last turn: the client has the turns before.
func (a *attacher) joinSession(c *request, j *join, r protocol.CreateResult, restored bool) {
	from := &protocol.Position{Epoch: r.Position.Epoch}
	if restored {
		from = nil
	}
	a.subs.subscribe(r.Session, from, func(sub *subscription, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			c.refuse(err)
			a.finishJoin(j, "", err)
			return
		}
		sub.restored = restored
		a.subs.goLive(sub, func(int) { a.finishJoin(j, r.Session, nil) })
	})
}

// reconnect subscribes to an existing session, from the frame that the client names or with a
// snapshot.
func (a *attacher) reconnect(c *request) {
	name := string(c.Session)
	if name == "" {
		name = wire.ParseObject(c.Content).Str("session_id")
	}
	if name == "" {
		c.refuseInvalid("session_id is missing")
		return
	}
	if sub := a.subs.find(name); sub != nil {
		a.subs.current = sub.session
		a.sendReconnected(c, sub, protocol.ModeSnapshot, nil)
		return
	}
	if a.deferUntilJoined(func(*protocol.Error) { a.reconnect(c) }) || !a.checkRoom(c, name) {
		return
	}
	var from *protocol.Position
	had, known := a.subs.resumePoint(c, name, "")
	if known {
		from = &protocol.Position{Epoch: had.position.Epoch, Seq: had.boundary}
		name = had.session
	} else if connection, seq, found := c.LastReceived(); found && seq == 0 && connection == "" {
		from = &protocol.Position{} // the whole log
	}
	j := a.startJoin()
	a.subs.subscribe(name, from, func(sub *subscription, r *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			c.refuse(err)
			a.finishJoin(j, "", err)
			return
		}
		mode := protocol.ModeSnapshot
		if r.Mode == protocol.ModeResume {
			mode = protocol.ModeResume
		}
		if known && mode == protocol.ModeResume {
			sub.received = &had
		}
		a.subs.aliases[string(c.Session)] = sub.session
		a.sendReconnected(c, sub, mode, r)
		a.finishJoin(j, sub.session, nil)
	})
}

// sendReconnected announces a subscription and starts it. r is nil if it was live already.
func (a *attacher) sendReconnected(c *request, sub *subscription, mode string, r *protocol.SubscribeResult) {
	m := wire.Meta{"action": wire.ActionReconnected, "mode": mode, "status": string(sub.state.Status())}
	if mode == protocol.ModeSnapshot {
		// MyAgent's clients accept 1 MiB
		if state := protocol.MustEncode(sub.state); len(state) <= wire.MaxSigned || c.meta.Has("reply_to") {
			m["state"] = state
		}
	}
	c.notify(sub.session, "Reconnected", m)
	if mode == protocol.ModeSnapshot {
		for i := range sub.state.Approvals {
			fr := sub.confirmFrame(&sub.state.Approvals[i])
			fr.Session = sub.session
			a.x.send(fr)
		}
	}
	result := protocol.MustEncode(wire.Meta{"session": sub.session, "mode": mode})
	if r == nil {
		c.reply(sub.session, result)
		return
	}
	a.subs.goLive(sub, func(replayed int) {
		a.x.sendNotice(sub.session, "", "Caught up", wire.Meta{
			"action": wire.ActionReplay, "replayed": replayed, "count": replayed, "last_seq": a.x.seq,
			"last_event_id": wire.EventID(a.x.id, a.x.seq),
		})
		c.reply(sub.session, result)
	})
}

// withSession calls then with the session that the frame names, and subscribes to it if necessary.
func (a *attacher) withSession(c *request, then func(*subscription)) {
	name := string(c.Session)
	if (name == "" || a.subs.find(name) == nil) && a.deferUntilJoined(func(err *protocol.Error) {
		// a frame for a failed session must not reach another one
		if name == "" && err != nil && a.joining == nil {
			c.refuse(err)
			return
		}
		a.withSession(c, then)
	}) {
		return
	}
	if name == "" {
		name = a.subs.current
	}
	if name == "" {
		c.refuse(protocol.Errorf(protocol.CodeInvalidMessage,
			"Unknown event type or missing session_id: %s", c.event))
		return
	}
	if sub := a.subs.find(name); sub != nil {
		a.subs.current = sub.session
		then(sub)
		return
	}
	if !a.checkRoom(c, name) {
		return
	}
	j := a.startJoin()
	a.subs.subscribe(name, nil, func(sub *subscription, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			c.refuse(err)
			a.finishJoin(j, "", err)
			return
		}
		a.subs.aliases[name] = sub.session
		a.subs.goLive(sub, nil)
		then(sub)
		a.finishJoin(j, sub.session, nil)
	})
}

// checkRoom reports whether one more session fits, and refuses the frame if not.
func (a *attacher) checkRoom(c *request, name string) bool {
	if len(a.subs.bySession)+a.x.Requests.Pending() < maxSubscriptions+maxPendingCommands &&
		len(a.subs.bySession) < maxSubscriptions && len(a.subs.aliases) < 4*maxSubscriptions && len(name) <= 256 {
		return true
	}
	e := protocol.Errorf(protocol.CodeTooMany, "Too many sessions on one connection")
	e.Limit = maxSubscriptions
	c.refuse(e)
	return false
}
