package client

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A receiver passes the frames of the server to the requests that they answer and the sessions that
// they are about.
type receiver struct {
	x        *exchange
	sessions *sessions
	clock    serverClock
	acks     ackTracker
	sawFrame bool // a frame arrived
}

// handledEvents are the events of frames that are more than events of a session: receiver.handle has
// their handlers.
var handledEvents = []string{
	wire.SystemNotice, wire.AgentSessionCreated, wire.AgentStateExported, wire.AgentStateRestored, wire.AgentSessionEnd,
	wire.AgentFinalAnswer, wire.AgentError, wire.AgentTimeout, wire.AgentInterrupted,
}

// receive handles a message of the server. It returns false if the message is not a frame.
func (r *receiver) receive(in codec.Frame) bool {
	m, ok := wire.DecodeMessage(in.Data)
	if !ok || in.Binary || m.Event == "" {
		if s := r.sessions.current; s != nil {
			s.recordRaw("", in.Data)
		}
		return false
	}
	r.sawFrame = true
	defer r.x.arrived.add(uint64(m.Seq))
	f := r.newFrame(&m, in.Data)
	f.at = r.clock.read(string(m.Timestamp), r.x.Now, f.meta.Has("orig_seq"))
	var s *session
	if !r.handleSystem(f) {
		if s = r.sessionOf(&m); s == nil {
			return true
		}
		s = r.handle(s, f)
		s.received(&m)
	}
	r.acks.add(uint64(m.Seq), s)
	return true
}

// sessionOf returns the session of a frame, or nil.
func (r *receiver) sessionOf(m *wire.Message) *session {
	if m.Session == "" {
		if r.sessions.current == nil {
			if req := r.x.find("", "", wire.UserReconnectState, wire.UserReconnect); req != nil {
				return req.session
			}
		}
		return r.sessions.current
	}
	if s := r.sessions.atServer(string(m.Session)); s != nil {
		return s
	}
	if m.Event == wire.AgentError { // it refuses a request about a session of another connection
		return r.sessions.current
	}
	if len(m.Session) > maxID {
		return nil
	}
	return r.sessions.add(string(m.Session))
}

// handle handles a frame of a session. It returns the session, which the frame may replace.
func (r *receiver) handle(s *session, f *frame) *session {
	f.state = s.log.State
	switch {
	case f.event == wire.AgentThinking, f.event == wire.AgentLLMMessage, f.event == wire.AgentPartialAnswer && !f.namesTurns:
	default:
		s.decoder.endReasoning(f)
		s.recordFrame(f)
	}
	if f.event != wire.SystemNotice {
		s.decoder.turnDeadline = time.Time{}
	}
	if f.meta.Has("orig_seq") && !f.namesTurns && s.alreadyReceived(f) {
		return s // replayed, and received before
	}
	if !f.namesTurns && f.state.Turn == nil && slices.Contains(startingEvents, f.event) && !s.decoder.answered(f) {
		s.startTurn(protocol.Message{MessageID: r.x.Options.ID("m")}) // the server may be in the middle of it
	}
	if decode := decoders[f.event]; decode != nil {
		s.decode(f, decode)
		return s
	}
	switch f.event {
	case wire.SystemNotice:
		s = r.notice(s, f)
	case wire.AgentSessionCreated:
		r.sessionCreated(s, f)
	case wire.AgentStateExported:
		r.stateExported(f)
	case wire.AgentStateRestored:
		s = r.stateRestored(s, f)
	case wire.AgentSessionEnd:
		s.close(f)
	case wire.AgentFinalAnswer, wire.AgentError, wire.AgentTimeout, wire.AgentInterrupted:
		s.endTurnBy(f)
	default:
		f.addRaw()
	}
	s.recordFrame(f)
	return s
}

// handleSystem handles frames of no session. It returns false for other frames.
func (r *receiver) handleSystem(f *frame) bool {
	switch f.event {
	case wire.SystemConnected:
		var can []json.RawMessage
		if !f.content.Decode("capabilities", &can) {
			f.meta.Decode("capabilities", &can)
		}
		for _, name := range can[:min(len(can), 64)] {
			r.x.capabilities[wire.Scalar(name)] = true
		}
		r.x.isMyAgent = len(can) == 0
		if version := f.content.Str("server_version"); version != "" {
			r.x.Responder.Server = wire.Name + "/" + clipID(version)
		}
		return true
	case wire.SystemHeartbeat:
		r.x.Publish("", protocol.Heartbeat, protocol.HeartbeatData{})
		return true
	case wire.SystemNotice, wire.SystemError, wire.ErrorValidation, wire.AgentError:
		return r.handleReply(f)
	}
	return false
}

// handleReply finishes the request that the frame answers. It returns false if the frame is not a
// reply.
func (r *receiver) handleReply(f *frame) bool {
	if id := f.meta.Str("reply_to"); id != "" {
		req := r.x.find(id, "")
		if req == nil {
			return false
		}
		var e protocol.Error
		switch {
		case f.meta.Has("fault") && f.meta.Decode("fault", &e):
			r.x.finish(req, nil, &e)
		case f.event == wire.SystemNotice && f.meta.Str("action") == wire.ActionReply:
			if req.event == wire.UserCreateSession {
				if id := clipID(wire.ParseObject(f.meta["result"]).Str("session")); id != "" {
					r.enterSession(id)
				}
			}
			result := f.meta["result"]
			if len(result) == 0 {
				result = json.RawMessage("{}")
			}
			r.x.finish(req, result, nil)
		case f.event != wire.SystemNotice:
			r.x.finish(req, nil, protocol.Errorf(protocol.CodeAgentFailed, "%s", wire.Shorten(f.text())))
		default:
			return false
		}
		return true
	}
	if f.event == wire.SystemNotice || r.x.capabilities[wire.CapReply] {
		return false
	}
	return r.handleUnmatchedError(f)
}

// handleUnmatchedError finishes the request that an error without reply_to most likely answers. It
// returns false if none fits.
func (r *receiver) handleUnmatchedError(f *frame) bool {
	text := f.text()
	code := protocol.CodeAgentFailed
	var req *request
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, wire.UserReconnectState), strings.Contains(lower, "invalid state"),
		strings.Contains(lower, "signed_state"), strings.Contains(lower, "already active on another"):
		req, code = r.x.find("", "", wire.UserReconnectState), protocol.CodeInvalidState
	case strings.Contains(lower, wire.UserReconnect):
		req, code = r.x.find("", "", wire.UserReconnect), protocol.CodeUnsupported
	case strings.Contains(lower, "cancel_solver"):
		req, code = r.x.find("", string(f.Session), wire.UserCancelTask), protocol.CodeUnsupported
	case strings.Contains(lower, "restart_solver"):
		req, code = r.x.find("", string(f.Session), wire.UserRestartTask), protocol.CodeUnsupported
	case strings.Contains(lower, wire.UserRequestState):
		req, code = r.x.find("", "", wire.UserRequestState), protocol.CodeUnsupported
	case strings.Contains(lower, "session not found"):
		req = r.x.find("", string(f.Session), wire.UserReconnect, wire.UserReconnectState, wire.UserRequestState)
		code = protocol.CodeNoSession
	case f.event == wire.SystemError:
		req = r.x.find("", "", wire.UserReconnect, wire.UserReconnectState, wire.UserRequestState, wire.UserCreateSession)
	}
	if req == nil {
		return false
	}
	r.x.finish(req, nil, protocol.Errorf(code, "%s", wire.Shorten(text)))
	return true
}

// enterSession makes a session the current one. It adds the session if necessary.
func (r *receiver) enterSession(id string) {
	if s := r.sessions.atServer(id); s != nil {
		r.sessions.enter(s)
		return
	}
	r.sessions.add(id)
}
