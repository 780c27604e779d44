package myagent

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// An opening is a session on its way into this connection, and who waits for it.
type sessionOpen struct {
	name      string
	fromStart bool     // from the beginning of its log, where the server can
	known     *session // from the connection before; nil: none
	callbacks []func(*session, *protocol.Error)
}

// open brings a session into this connection, in the best way that the server knows: our server goes on where the client was or
// shows the session as it is; a MyAgent server restores a state that was asked for in time; else a session is begun, for such a
// server's sessions end with their connection and it cannot list any.
func (c *clientCodec) openSession(name string, whole bool, then func(*session, *protocol.Error)) {
	s := c.findSession(name)
	if s != nil && s.connected {
		s.addName(name)
		then(s, nil)
		return
	}
	if o := c.opens[name]; o != nil {
		if len(o.callbacks) >= maxRequests {
			then(nil, protocol.Errorf(protocol.CodeTooMany, "too many commands at once"))
			return
		}
		o.callbacks = append(o.callbacks, then)
		return
	}
	o := &sessionOpen{name: name, fromStart: whole, known: s, callbacks: []func(*session, *protocol.Error){then}}
	c.opens[name] = o
	if s != nil && s.signedState != nil && !c.capabilities[capReconnect] {
		c.restoreSession(o)
		return
	}
	c.reconnect(o)
}

// opened tells who waits.
func (c *clientCodec) finishOpen(o *sessionOpen, s *session, err *protocol.Error) {
	delete(c.opens, o.name)
	if s != nil {
		s.connected = true
		s.addName(o.name)
		c.current = s
	}
	for _, then := range o.callbacks {
		then(s, err)
	}
}

// reconnect asks for a session that goes on without us.
func (c *clientCodec) reconnect(o *sessionOpen) {
	f := frame{Session: o.name, Event: userReconnect}
	if s := o.known; s != nil {
		f.Session = s.serverID
		if s.lastEventID != "" {
			f.Content = meta{"last_event_id": s.lastEventID, "last_seq": s.lastSeq}
		}
	} else if o.fromStart {
		f.Content = meta{"last_seq": 0}
	}
	c.sendRequest(f, o.known, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err == nil:
			s := c.findSession(parseObject(result).str("session"))
			if s == nil {
				c.finishOpen(o, nil, protocol.Errorf(protocol.CodeInternal, "the server reconnected to nothing"))
				return
			}
			c.finishOpen(o, s, nil)
		case c.capabilities[capReconnect] && err.Code == protocol.CodeTimeout: // it can, so the link is to blame: who waits asks again on the next
			c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a reconnect"}
		case c.capabilities[capReconnect] && err.Code == protocol.CodeNoSession && o.known != nil && o.known.signedState != nil: // its store is gone
			c.restoreSession(o)
		case c.capabilities[capReconnect]:
			c.finishOpen(o, nil, err)
		default:
			c.createSession(o)
		}
	})
}

// revive restores a known session from its exported state.
func (c *clientCodec) restoreSession(o *sessionOpen) {
	s := o.known
	f := frame{Event: userReconnectState, Signed: s.signedState, Content: meta{"last_seq": s.lastSeq}.with("last_event_id", s.lastEventID)}
	s.signedState = nil // once
	s.restoredFrom, s.restoredFromSeq = s.lastEventID, s.lastSeq
	c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err != nil && c.capabilities[capReconnect]:
			c.finishOpen(o, nil, err)
			return
		case err != nil:
			c.createSession(o)
			return
		}
		s.serverID, s.connected, s.replaying = clipID(parseObject(result).str("session")), true, true
		c.current = s
		c.awaitReplay(s, func() {
			s.log.Resumes = protocol.ResumeRestored
			if c.capabilities[capTurns] {
				s.clearPending(c)
			}
			c.finishReplay(s, serverRestarted)
			c.finishOpen(o, s, nil)
		})
	})
}

// replay waits until the frames that a session missed have come: a notice ends them.
func (c *clientCodec) awaitReplay(s *session, then func()) {
	c.requests = append(c.requests, &request{event: actionReplay, session: s, deadline: c.now.Add(requestTimeout), done: func(json.RawMessage, *protocol.Error) {
		s.replaying = false
		then()
	}})
}

// serverRestarted is the end of a turn that was under way in a session that the server lost.
var serverRestarted = protocol.TurnEndedData{
	Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server's session ended with the connection",
}

// ofBefore is the end of a turn that was under way where a session was continued from.
var turnLeftBehind = protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, Message: "the session before had this turn"}

// replayed goes on after a replay: a turn that it left open ends as d says, unless what came was a list, in which a turn goes on.
func (c *clientCodec) finishReplay(s *session, d protocol.TurnEndedData) {
	s.replaying = false
	switch {
	case s.log.State.Turn == nil:
		c.betweenTurns(s)
	case !s.replayingList:
		c.endTurn(s, c.now, d)
	}
}

// vacate takes away what waited at a server that lost it: what it has restored of that, it tells anew.
func (s *session) clearPending(c *clientCodec) {
	st := s.log.State
	for _, a := range slices.Clone(st.Approvals) {
		s.record(c, codec.Entry{Type: protocol.ApprovalResolved, Turn: a.Turn, Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled}})
	}
	for _, m := range slices.Clone(st.Queue) {
		s.record(c, codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared}})
	}
	for _, h := range slices.Clone(st.Holds) {
		s.record(c, codec.Entry{Type: protocol.QueueReleased, Data: protocol.QueueReleasedData{Holds: []string{h.ID}}})
	}
}

// beginFor begins a session for a name that the server does not know.
func (c *clientCodec) createSession(o *sessionOpen) {
	title := o.name
	if o.known != nil && len(o.known.names) > 0 {
		title = o.known.names[0]
	}
	c.sendRequest(frame{Event: userCreateSession, Content: title}, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.finishOpen(o, nil, protocol.Errorf(protocol.CodeNoSession, "there is no session %q, and none could be begun: %s", clipID(o.name), err.Message))
			return
		}
		s := c.findSession(parseObject(result).str("session"))
		if s == nil {
			c.finishOpen(o, nil, protocol.Errorf(protocol.CodeInternal, "the server began no session"))
			return
		}
		if o.known == nil || o.known == s {
			c.finishOpen(o, s, nil)
			return
		}
		o.known.continueIn(c, s)
		c.finishOpen(o, o.known, nil)
		c.betweenTurns(o.known)
	})
}

// beginAgain lets a session go on in another one that the server began in its place. What was said stays for people, and what waits to be
// said still does; the agent knows nothing of it.
func (s *session) continueIn(c *clientCodec, anew *session) {
	c.removeSession(anew)
	s.serverID, s.lastEventID, s.lastSeq = anew.serverID, anew.lastEventID, anew.lastSeq
	waiting := s.log.State.Queue
	if t := s.log.State.Turn; t != nil {
		s.record(c, codec.Entry{Type: protocol.TurnEnded, Turn: t.Turn, Data: serverRestarted})
	}
	s.log.Renew(s.nextEpoch(c))
	s.decodeState = decodeState{turns: s.turns, parts: s.parts}
	s.record(c, codec.Entry{Type: protocol.Notice, Data: protocol.NoticeData{
		Level: protocol.LevelWarning, Message: "the session before ended with its connection; this is a new one, whose agent does not know what was said",
	}})
	for _, m := range waiting {
		s.record(c, codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	}
}
