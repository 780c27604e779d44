package myagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// An opening is a session on its way into this connection, and who waits for it.
type opening struct {
	name    string
	whole   bool     // from the beginning of its log, where the server can
	known   *session // from the connection before; nil: none
	waiting []func(*session, *protocol.Error)
}

// open brings a session into this connection, in the best way that the server knows: our server goes on where the client was or
// shows the session as it is; a MyAgent server restores a state that was asked for in time; else a session is begun, for such a
// server's sessions end with their connection and it cannot list any.
func (c *client) open(name string, whole bool, then func(*session, *protocol.Error)) {
	s := c.find(name)
	if s != nil && s.here {
		s.named(name)
		then(s, nil)
		return
	}
	if o := c.opening[name]; o != nil {
		if len(o.waiting) >= maxAsks {
			then(nil, protocol.Errorf(protocol.CodeTooMany, "too many commands at once"))
			return
		}
		o.waiting = append(o.waiting, then)
		return
	}
	o := &opening{name: name, whole: whole, known: s, waiting: []func(*session, *protocol.Error){then}}
	c.opening[name] = o
	if s != nil && s.state != nil && !c.can[canReconnect] {
		c.revive(o)
		return
	}
	c.reconnect(o)
}

// opened tells who waits.
func (c *client) opened(o *opening, s *session, err *protocol.Error) {
	delete(c.opening, o.name)
	if s != nil {
		s.here = true
		s.named(o.name)
		c.current = s
	}
	for _, then := range o.waiting {
		then(s, err)
	}
}

// reconnect asks for a session that goes on without us.
func (c *client) reconnect(o *opening) {
	f := frame{Session: o.name, Event: userReconnect}
	if s := o.known; s != nil {
		f.Session = s.foreign
		if s.last != "" {
			f.Content = meta{"last_event_id": s.last, "last_seq": s.lastSeq}
		}
	} else if o.whole {
		f.Content = meta{"last_seq": 0}
	}
	c.ask(f, o.known, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err == nil:
			s := c.find(object(result).str("session"))
			if s == nil {
				c.opened(o, nil, protocol.Errorf(protocol.CodeInternal, "the server reconnected to nothing"))
				return
			}
			c.opened(o, s, nil)
		case c.can[canReconnect] && err.Code == protocol.CodeTimeout: // it can, so the link is to blame: who waits asks again on the next
			c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a reconnect"}
		case c.can[canReconnect] && err.Code == protocol.CodeNoSession && o.known != nil && o.known.state != nil: // its store is gone
			c.revive(o)
		case c.can[canReconnect]:
			c.opened(o, nil, err)
		default:
			c.beginFor(o)
		}
	})
}

// revive restores a known session from its exported state.
func (c *client) revive(o *opening) {
	s := o.known
	f := frame{Event: userReconnectState, Signed: s.state, Content: meta{"last_seq": s.lastSeq}.with("last_event_id", s.last)}
	s.state = nil // once
	s.had, s.hadSeq = s.last, s.lastSeq
	c.ask(f, s, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err != nil && c.can[canReconnect]:
			c.opened(o, nil, err)
			return
		case err != nil:
			c.beginFor(o)
			return
		}
		s.foreign, s.here, s.replays = clip(object(result).str("session")), true, true
		c.current = s
		c.replay(s, func() {
			s.log.ResumeReason = protocol.ResumeRestored
			if c.can[canTurns] {
				s.vacate(c)
			}
			c.replayed(s, serverRestarted)
			c.opened(o, s, nil)
		})
	})
}

// replay waits until the frames that a session missed have come: a notice ends them.
func (c *client) replay(s *session, then func()) {
	c.asks = append(c.asks, &ask{event: actionReplay, session: s, due: c.now.Add(askWithin), then: func(json.RawMessage, *protocol.Error) {
		s.replays = false
		then()
	}})
}

// serverRestarted is the end of a turn that was under way in a session that the server lost.
var serverRestarted = protocol.TurnEndedData{
	Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server's session ended with the connection",
}

// ofBefore is the end of a turn that was under way where a session was continued from.
var ofBefore = protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, Message: "the session before had this turn"}

// replayed goes on after a replay: a turn that it left open ends as d says, unless what came was a list, in which a turn goes on.
func (c *client) replayed(s *session, d protocol.TurnEndedData) {
	s.replays = false
	switch {
	case s.log.State.Turn == nil:
		c.rest(s)
	case !s.lists:
		c.endTurn(s, c.now, d)
	}
}

// vacate takes away what waited at a server that lost it: what it has restored of that, it tells anew.
func (s *session) vacate(c *client) {
	st := s.log.State
	for _, a := range slices.Clone(st.Approvals) {
		s.add(c, codec.Entry{Type: protocol.ApprovalResolved, Turn: a.Turn, Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled}})
	}
	for _, m := range slices.Clone(st.Queue) {
		s.add(c, codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared}})
	}
	for _, h := range slices.Clone(st.Holds) {
		s.add(c, codec.Entry{Type: protocol.QueueReleased, Data: protocol.QueueReleasedData{Holds: []string{h.ID}}})
	}
}

// beginFor begins a session for a name that the server does not know.
func (c *client) beginFor(o *opening) {
	title := o.name
	if o.known != nil && len(o.known.names) > 0 {
		title = o.known.names[0]
	}
	c.ask(frame{Event: userCreateSession, Content: title}, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.opened(o, nil, protocol.Errorf(protocol.CodeNoSession, "there is no session %q, and none could be begun: %s", clip(o.name), err.Message))
			return
		}
		s := c.find(object(result).str("session"))
		if s == nil {
			c.opened(o, nil, protocol.Errorf(protocol.CodeInternal, "the server began no session"))
			return
		}
		if o.known == nil || o.known == s {
			c.opened(o, s, nil)
			return
		}
		o.known.beginAgain(c, s)
		c.opened(o, o.known, nil)
		c.rest(o.known)
	})
}

// beginAgain lets a session go on in another one that the server began in its place. What was said stays for people, and what waits to be
// said still does; the agent knows nothing of it.
func (s *session) beginAgain(c *client, anew *session) {
	c.forget(anew)
	s.foreign, s.last, s.lastSeq = anew.foreign, anew.last, anew.lastSeq
	waiting := s.log.State.Queue
	if t := s.log.State.Turn; t != nil {
		s.add(c, codec.Entry{Type: protocol.TurnEnded, Turn: t.Turn, Data: serverRestarted})
	}
	s.log.Renew(s.nextEpoch(c))
	s.hearing = hearing{turns: s.turns, parts: s.parts}
	s.add(c, codec.Entry{Type: protocol.Notice, Data: protocol.NoticeData{
		Level: protocol.LevelWarning, Message: "the session before ended with its connection; this is a new one, whose agent does not know what was said",
	}})
	for _, m := range waiting {
		s.add(c, codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	}
}
