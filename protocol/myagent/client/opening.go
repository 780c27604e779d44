package client

import (
	"encoding/json"

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

// openings attaches sessions to a connection.
type openings struct {
	x        *exchange
	sessions *sessions
	opens    map[string]*sessionOpen // by the client's name for the session
}

// open attaches a session to this connection and calls then. agentctl's server resumes it or
// sends its state. A MyAgent server restores a state exported earlier. Otherwise a new session is
// created: sessions of such a server end with their connection, and it cannot list them.
func (p *openings) open(name string, fromStart bool, then func(*session, *protocol.Error)) {
	s := p.sessions.find(name)
	if s != nil && s.connected {
		s.addName(name)
		then(s, nil)
		return
	}
	if o := p.opens[name]; o != nil {
		if len(o.callbacks) >= maxRequests {
			then(nil, codec.TooMany(maxRequests))
			return
		}
		o.callbacks = append(o.callbacks, then)
		return
	}
	o := &sessionOpen{name: name, fromStart: fromStart, known: s, callbacks: []func(*session, *protocol.Error){then}}
	p.opens[name] = o
	switch {
	case s != nil && s.signedState != nil && !p.x.capabilities[wire.CapReconnect]:
		p.restore(o)
	case p.x.isMyAgent: // it knows no user.reconnect
		p.create(o)
	default:
		p.reconnect(o)
	}
}

// finish ends an attachment and calls its callbacks.
func (p *openings) finish(o *sessionOpen, s *session, err *protocol.Error) {
	delete(p.opens, o.name)
	if s != nil {
		p.sessions.enter(s)
		s.addName(o.name)
	}
	for _, then := range o.callbacks {
		then(s, err)
	}
}

// reconnect requests a session that may still exist at the server.
func (p *openings) reconnect(o *sessionOpen) {
	f := wire.Frame{Session: o.name, Event: wire.UserReconnect}
	if s := o.known; s != nil {
		f.Session = s.serverID
		if s.lastEventID != "" {
			f.Content = wire.Meta{"last_event_id": s.lastEventID, "last_seq": s.lastSeq}
		}
	} else if o.fromStart {
		f.Content = wire.Meta{"last_seq": 0}
	}
	p.x.request(f, o.known, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err == nil:
			s := p.sessions.find(wire.ParseObject(result).Str("session"))
			if s == nil {
				p.finish(o, nil,
					protocol.Errorf(protocol.CodeInternal, "the server reconnected to an unknown session"))
				return
			}
			p.finish(o, s, nil)
		case p.x.capabilities[wire.CapReconnect] && err.Code == protocol.CodeTimeout:
			// The link failed: commands are sent again on the next connection.
			p.x.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "no answer to a reconnect"}
		case p.x.capabilities[wire.CapReconnect] && err.Code == protocol.CodeNoSession && o.known != nil &&
			o.known.signedState != nil: // the server lost its store
			p.restore(o)
		case p.x.capabilities[wire.CapReconnect]:
			p.finish(o, nil, err)
		default:
			p.create(o)
		}
	})
}

// restore restores a known session from its exported state.
func (p *openings) restore(o *sessionOpen) {
	s := o.known
	f := wire.Frame{
		Event: wire.UserReconnectState, Signed: s.signedState,
		Content: wire.Meta{"last_seq": s.lastSeq}.With("last_event_id", s.lastEventID),
	}
	s.signedState = nil // only once
	s.restoredFrom, s.restoredFromSeq = s.lastEventID, s.lastSeq
	p.x.request(f, s, func(result json.RawMessage, err *protocol.Error) {
		switch {
		case err != nil && p.x.capabilities[wire.CapReconnect]:
			p.finish(o, nil, err)
			return
		case err != nil:
			p.create(o)
			return
		}
		s.serverForgot = false
		s.serverID, s.decoder.replaying = clipID(wire.ParseObject(result).Str("session")), true
		p.sessions.enter(s)
		s.awaitReplay(func() {
			s.log.ResumeReason = protocol.ResumeRestored
			end := connectionCut
			if p.x.capabilities[wire.CapTurns] {
				s.clearPending()
				end = serverRestarted
			} else if s.serverForgot {
				end = serverRestarted
			}
			s.finishReplay(end)
			p.finish(o, s, nil)
		})
	})
}

// serverRestarted ends a turn of a session whose frames the server no longer has.
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

// create creates a session for a name that the server does not know.
func (p *openings) create(o *sessionOpen) {
	title := o.name
	if o.known != nil && len(o.known.names) > 0 {
		title = o.known.names[0]
	}
	f := wire.Frame{Event: wire.UserCreateSession, Content: title}
	p.x.request(f, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			p.finish(o, nil, protocol.Errorf(protocol.CodeNoSession,
				"no session %q, and none could be created: %s", clipID(o.name), err.Message))
			return
		}
		s := p.sessions.find(wire.ParseObject(result).Str("session"))
		if s == nil {
			p.finish(o, nil, protocol.Errorf(protocol.CodeInternal, "the server created no session"))
			return
		}
		if o.known == nil || o.known == s {
			p.finish(o, s, nil)
			return
		}
		p.sessions.remove(s)
		o.known.continueIn(s)
		p.finish(o, o.known, nil)
		o.known.betweenTurns()
	})
}

// createNew creates a session. The protocol carries no working directory.
func (p *openings) createNew(cmd *protocol.Command) {
	var d protocol.CreateData
	if !p.x.DecodeData(cmd, &d) {
		return
	}
	if len(d.Env)+len(d.Settings)+len(d.Load)+len(d.Labels) > 0 || d.Policy != nil ||
		d.Sandbox != (protocol.Sandbox{}) {
		p.x.FailUnsupported(cmd, "the labels, environment, settings, policy, sandbox or stored session of an agent")
		return
	}
	if len(d.Parts) > 0 {
		p.x.FailUnsupported(cmd, "parts in the first message of a session")
		return
	}
	if p.x.Options.OneShot && d.Name != "" { // the name would be lost with this client
		p.x.FailUnsupported(cmd, "session names: use a title")
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
	p.x.request(f, nil, func(result json.RawMessage, err *protocol.Error) {
		s := p.sessions.find(wire.ParseObject(result).Str("session"))
		if err == nil && s == nil {
			err = protocol.Errorf(protocol.CodeInternal, "the server created no session")
		}
		if err != nil {
			p.x.Fail(cmd, err)
			return
		}
		s.addName(d.Name)
		r := protocol.CreateResult{
			Session: s.log.Session, Name: d.Name, Position: protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq},
		}
		if d.Prompt == "" {
			p.x.Answer(cmd, r)
			return
		}
		prompt := &protocol.SendData{Text: d.Prompt, ClientMessageID: d.ClientMessageID}
		command{cmd, s, p.x}.send(prompt, func(sent protocol.SendResult) {
			r.Message = &sent
			p.x.Answer(cmd, r)
		})
	})
}

// restoreState creates a session from a signed state.
func (p *openings) restoreState(cmd *protocol.Command) {
	var d protocol.RestoreData
	err := cmd.DecodeData(&d)
	if err == nil && (d.State.Version != wire.Name || wire.ParseObject(d.State.State) == nil) {
		err = protocol.Errorf(protocol.CodeInvalidState, "the state is not from a server of the dialect %s", wire.Name)
	}
	if err != nil {
		p.x.Fail(cmd, err)
		return
	}
	state, _ := protocol.Compact(d.State.State)
	f := wire.Frame{Event: wire.UserReconnectState, Signed: state, Meta: wire.Meta{}.With("key", cmd.Key)}
	p.x.request(f, nil, func(result json.RawMessage, err *protocol.Error) {
		if err != nil {
			p.x.Fail(cmd, err)
			return
		}
		id := clipID(wire.ParseObject(result).Str("session"))
		s := p.sessions.find(id)
		if s == nil {
			s = p.sessions.add(id)
		}
		s.addName(d.Name)
		r := protocol.CreateResult{
			Session: id, Name: d.Name, Position: protocol.Position{Epoch: s.log.Epoch, Seq: s.log.State.Seq},
		}
		s.awaitReplay(func() { // a message sent earlier would land between replayed turns
			s.finishReplay(turnLeftBehind)
			p.x.Answer(cmd, r)
		})
	})
}
