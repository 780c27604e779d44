package client

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A sessionOpen is a session being attached to this connection.
type sessionOpen struct {
	name      string
	fromStart bool     // from the start of the log, if the server supports it
	known     *session // from the previous connection; nil: none
	callbacks []func(*session, *protocol.Error)
}

// openSession attaches a session to this connection and calls then. agentctl's server resumes it or
// sends its state. A MyAgent server restores a state exported earlier. Otherwise a new session is
// created: sessions of such a server end with their connection, and it cannot list them.
func (c *Conn) openSession(name string, fromStart bool, then func(*session, *protocol.Error)) {
	s := c.findSession(name)
	if s != nil && s.connected {
		s.addName(name)
		then(s, nil)
		return
	}
	if o := c.opens[name]; o != nil {
		if len(o.callbacks) >= maxRequests {
			then(nil, codec.TooMany(maxRequests))
			return
		}
		o.callbacks = append(o.callbacks, then)
		return
	}
	o := &sessionOpen{name: name, fromStart: fromStart, known: s, callbacks: []func(*session, *protocol.Error){then}}
	c.opens[name] = o
	switch {
	case s != nil && s.signedState != nil && !c.capabilities[wire.CapReconnect]:
		c.restoreSession(o)
	case c.isMyAgent: // it knows no user.reconnect
		c.createSession(o)
	default:
		c.reconnect(o)
	}
}

// finishOpen ends an attachment and calls its callbacks.
func (c *Conn) finishOpen(o *sessionOpen, s *session, err *protocol.Error) {
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

// reconnect requests a session that may still exist at the server.
func (c *Conn) reconnect(o *sessionOpen) {
	f := wire.Frame{Session: o.name, Event: wire.UserReconnect}
	if s := o.known; s != nil {
		f.Session = s.serverID
		if s.lastEventID != "" {
			f.Content = wire.Meta{"last_event_id": s.lastEventID, "last_seq": s.lastSeq}
		}
	} else if o.fromStart {
		f.Content = wire.Meta{"last_seq": 0}
	}
	c.sendRequest(f, o.known, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err == nil:
			s := c.findSession(wire.ParseObject(result).Str("session"))
			if s == nil {
				c.finishOpen(o, nil,
					protocol.Errorf(protocol.CodeInternal, "the server reconnected to an unknown session"))
				return
			}
			c.finishOpen(o, s, nil)
		case c.capabilities[wire.CapReconnect] && err.Code == protocol.CodeTimeout:
			// The link failed: commands are sent again on the next connection.
			c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a reconnect"}
		case c.capabilities[wire.CapReconnect] && err.Code == protocol.CodeNoSession && o.known != nil &&
			o.known.signedState != nil: // the server lost its store
			c.restoreSession(o)
		case c.capabilities[wire.CapReconnect]:
			c.finishOpen(o, nil, err)
		default:
			c.createSession(o)
		}
	})
}

// restoreSession restores a known session from its exported state.
func (c *Conn) restoreSession(o *sessionOpen) {
	s := o.known
	f := wire.Frame{
		Event: wire.UserReconnectState, Signed: s.signedState,
		Content: wire.Meta{"last_seq": s.lastSeq}.With("last_event_id", s.lastEventID),
	}
	s.signedState = nil // only once
	s.restoredFrom, s.restoredFromSeq = s.lastEventID, s.lastSeq
	c.sendRequest(f, s, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err != nil && c.capabilities[wire.CapReconnect]:
			c.finishOpen(o, nil, err)
			return
		case err != nil:
			c.createSession(o)
			return
		}
		s.serverForgot = false
		s.serverID, s.connected, s.replaying = clipID(wire.ParseObject(result).Str("session")), true, true
		c.current = s
		c.awaitReplay(s, func() {
			s.log.ResumeReason = protocol.ResumeRestored
			end := connectionCut
			if c.capabilities[wire.CapTurns] {
				s.clearPending(c)
				end = serverRestarted
			} else if s.serverForgot {
				end = serverRestarted
			}
			c.finishReplay(s, end)
			c.finishOpen(o, s, nil)
		})
	})
}

// awaitReplay calls then after the missed frames of a session. A notice ends them.
func (c *Conn) awaitReplay(s *session, then func()) {
	c.requests = append(c.requests, &request{
		event: wire.ActionReplay, session: s, deadline: c.Now.Add(requestTimeout),
		done: func(json.RawMessage, *protocol.Error) {
			s.replaying = false
			then()
		},
	})
}

// serverRestarted ends a turn of a session whose frames the server does not have any more.
var serverRestarted = protocol.TurnEndedData{
	Reason: protocol.ReasonError, Code: protocol.CodeServerRestart, Message: "the server was restarted",
}

// connectionCut ends a turn of a session that ended with its connection, as every session of a
// MyAgent server does.
var connectionCut = protocol.TurnEndedData{
	Reason:  protocol.ReasonError,
	Message: "connection lost: the server ends a turn with its connection",
}

// turnLeftBehind ends a turn that still ran in the session that was restored.
var turnLeftBehind = protocol.TurnEndedData{
	Reason: protocol.ReasonInterrupted, Message: "the turn ran in the previous session",
}

// finishReplay continues after a replay. It ends an open turn with d, except after a list of
// events, whose turn goes on.
func (c *Conn) finishReplay(s *session, d protocol.TurnEndedData) {
	s.replaying = false
	switch {
	case s.log.State.Turn == nil:
		c.betweenTurns(s)
	case !s.replayingList:
		c.endTurn(s, c.Now, d)
	}
}

// clearPending removes the approvals, queue and holds of a session that its server lost. The server
// announces those it restored.
func (s *session) clearPending(c *Conn) {
	st := s.log.State
	for _, a := range slices.Clone(st.Approvals) {
		c.record(s, codec.Entry{
			Type: protocol.ApprovalResolved, Turn: a.Turn,
			Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled},
		})
	}
	for _, m := range slices.Clone(st.Queue) {
		c.record(s, codec.Entry{
			Type: protocol.QueueRemoved,
			Data: protocol.QueueRemovedData{MessageID: m.MessageID, Reason: protocol.RemovedCleared},
		})
	}
	for _, h := range slices.Clone(st.Holds) {
		c.record(s, codec.Entry{Type: protocol.QueueReleased, Data: protocol.QueueReleasedData{Holds: []string{h.ID}}})
	}
}

// createSession creates a session for a name that the server does not know.
func (c *Conn) createSession(o *sessionOpen) {
	title := o.name
	if o.known != nil && len(o.known.names) > 0 {
		title = o.known.names[0]
	}
	f := wire.Frame{Event: wire.UserCreateSession, Content: title}
	c.sendRequest(f, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			c.finishOpen(o, nil, protocol.Errorf(protocol.CodeNoSession,
				"no session %q, and none could be created: %s", clipID(o.name), err.Message))
			return
		}
		s := c.findSession(wire.ParseObject(result).Str("session"))
		if s == nil {
			c.finishOpen(o, nil, protocol.Errorf(protocol.CodeInternal, "the server created no session"))
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

// continueIn continues a session in the new one that the server created in its place. The
// transcript and the queue remain, but the agent has no memory of them.
func (s *session) continueIn(c *Conn, replacement *session) {
	c.removeSession(replacement)
	s.serverID, s.lastEventID, s.lastSeq = replacement.serverID, replacement.lastEventID, replacement.lastSeq
	waiting := s.log.State.Queue
	c.recordTurnEnd(s, c.Now, connectionCut)
	s.log.Renew(c.NextEpoch())
	s.decodeState = decodeState{parts: s.parts}
	c.record(s, codec.Entry{Type: protocol.Notice, Data: protocol.NoticeData{
		Level:   protocol.LevelWarning,
		Message: "the previous session ended with its connection; the new agent does not know its transcript",
	}})
	for _, m := range waiting {
		c.record(s, codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	}
}
