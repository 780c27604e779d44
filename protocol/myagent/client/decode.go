package client

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A frameHandler handles one frame of the server.
type frameHandler struct {
	*wire.Message
	client     *Conn
	session    *session // nil: of no session
	event      string
	data       []byte // the whole frame
	meta       wire.Fields
	content    wire.Fields // content, if it is an object
	at         time.Time
	namesTurns bool // the server names turns, as agentctl's does
}

// handleFrame handles a frame of the server.
func (c *Conn) handleFrame(m *wire.Message, data []byte) {
	h := &frameHandler{
		Message: m, client: c, event: string(m.Event), data: data, meta: wire.ParseObject(m.Metadata),
		content: wire.ParseObject(m.Content),
	}
	h.at = c.clock.read(string(m.Timestamp), c.Now, h.meta.Has("orig_seq"))
	h.event = unprefixed(h.event)
	h.namesTurns = h.meta.Has("turn_id") || c.capabilities[wire.CapTurns]
	defer c.seqs.add(uint64(m.Seq))
	if !h.handleSystem() {
		if h.session = c.sessionOf(m); h.session == nil {
			return
		}
		if m.Seq > 0 {
			defer func() { // after the frame is handled
				if seq := uint64(m.Seq); seq > h.session.lastSeq ||
					connectionOf(h.session.lastEventID) != m.ConnectionID() {
					h.session.lastSeq = seq
					if h.session.lastEventID = string(m.ID); h.session.lastEventID == "" {
						h.session.lastEventID = wire.EventID(m.ConnectionID(), seq)
					}
				}
			}()
		}
		h.handle()
	}
	c.acks.add(uint64(m.Seq), h.session)
}

// unprefixed removes the namespace that a server may put before an event name.
func unprefixed(event string) string {
	if frameHandlers[event] != nil {
		return event
	}
	for i := range len(event) {
		if event[i] == '.' && frameHandlers[event[i+1:]] != nil {
			return event[i+1:]
		}
	}
	return event
}

// sessionOf returns the session of a frame, or nil.
func (c *Conn) sessionOf(m *wire.Message) *session {
	if m.Session == "" {
		if c.current == nil {
			if req := c.findRequest("", "", wire.UserReconnectState, wire.UserReconnect); req != nil {
				return req.session
			}
		}
		return c.current
	}
	for _, s := range c.resume.sessions {
		if s.serverID == string(m.Session) {
			return s
		}
	}
	if m.Event == wire.AgentError { // it refuses a request about a session of another connection
		return c.current
	}
	if len(m.Session) > maxID {
		return nil
	}
	return c.addSession(string(m.Session))
}

// handle handles a frame of a session.
func (h *frameHandler) handle() {
	s := h.session
	switch {
	case h.event == wire.AgentThinking, h.event == wire.AgentLLMMessage, h.event == wire.AgentPartialAnswer && !h.namesTurns:
	default:
		h.endReasoning()
	}
	if !s.turnDeadline.IsZero() && h.event != wire.SystemNotice {
		s.turnDeadline = time.Time{}
	}
	if h.meta.Has("orig_seq") && !h.namesTurns && h.alreadyReceived() {
		return // replayed, and received before
	}
	if handler := frameHandlers[h.event]; handler != nil {
		handler(h)
		return
	}
	h.recordRaw()
}

// alreadyReceived reports whether an earlier connection received a replayed frame.
func (h *frameHandler) alreadyReceived() bool {
	if !h.session.replaying {
		return false
	}
	connection, seq := wire.ParseEventID(h.session.restoredFrom)
	if connection == "" { // the server does not name connections
		seq = h.session.restoredFromSeq
	}
	orig := uint64(h.meta.Int("orig_seq"))
	return orig > 0 && orig <= seq && connectionOf(h.meta.Str("orig_event_id")) == connection
}

func connectionOf(id string) string {
	connection, _ := wire.ParseEventID(id)
	return connection
}

// recordRaw records a frame without a native equivalent.
func (h *frameHandler) recordRaw() { h.client.recordRaw(h.session, h.event, h.data) }

// turnID returns the turn of the frame, or "".
func (h *frameHandler) turnID() string {
	if id := clipID(h.meta.Str("turn_id")); id != "" {
		return id
	}
	if t := h.session.log.State.Turn; t != nil && !h.client.capabilities[wire.CapTurns] {
		return t.Turn
	}
	return ""
}

// record records an event with the frame's turn, task, parent, actor and time.
func (h *frameHandler) record(t protocol.Type, data any) {
	h.client.record(h.session, codec.Entry{
		Type: t, Turn: h.turnID(), Task: clipID(h.meta.Str("task_id")), Parent: clipID(h.meta.Str("parent_id")),
		By: h.actor(), Time: h.at, Data: data,
	})
}

// ensureTurn starts a turn if none runs. A server that does not name turns may be in the middle of
// one.
func (h *frameHandler) ensureTurn() {
	if !h.namesTurns && h.session.log.State.Turn == nil {
		h.client.startTurn(h.session, protocol.Message{MessageID: h.client.Options.ID("m")})
	}
}

func (h *frameHandler) actor() *protocol.Actor {
	var by protocol.Actor
	if !h.meta.Decode("by", &by) || by.Name == "" {
		return nil
	}
	by.Name, by.Subject = clipID(by.Name), clipID(by.Subject)
	return &by
}

// text returns the frame's content as text.
func (h *frameHandler) text() string { return wire.Text(h.Content) }

// usage decodes tokens_used.
func (h *frameHandler) usage() *protocol.Usage {
	u := new(protocol.Usage)
	o := wire.ParseObject(h.meta["tokens_used"])
	if o == nil {
		return nil
	}
	if !h.meta.Decode("tokens_used", u) {
		*u = protocol.Usage{Input: o.Int("input"), Output: o.Int("output")}
	}
	return u
}

func (h *frameHandler) executionMS() int64 { return h.meta.Int("execution_time_ms") }

// frameHandlers maps events to their handlers. Other events are recorded raw.
var frameHandlers map[string]func(*frameHandler)

func init() {
	frameHandlers = map[string]func(*frameHandler){
		wire.SystemNotice:        (*frameHandler).notice,
		wire.SystemError:         (*frameHandler).systemError,
		wire.AgentSessionCreated: (*frameHandler).sessionCreated,
		wire.AgentSessionEnd:     (*frameHandler).sessionEnd,
		wire.AgentStateExported:  (*frameHandler).stateExported,
		wire.AgentStateRestored:  (*frameHandler).stateRestored,

		wire.AgentLLMMessage:    func(*frameHandler) {}, // repeats the conversation
		wire.AgentThinking:      (*frameHandler).thinking,
		wire.AgentPartialAnswer: (*frameHandler).partialAnswer,
		wire.AgentFinalAnswer:   (*frameHandler).finalAnswer,
		wire.AgentToolCall:      (*frameHandler).toolCall,
		wire.AgentToolResult:    (*frameHandler).toolResult,
		wire.AgentUserConfirm:   (*frameHandler).userConfirm,
		wire.AgentError:         (*frameHandler).agentError,
		wire.AgentTimeout:       (*frameHandler).timeout,
		wire.AgentInterrupted:   (*frameHandler).interrupted,

		wire.PlanStart:          (*frameHandler).planStart,
		wire.PlanCompleted:      (*frameHandler).planCompleted,
		wire.PlanCancelled:      (*frameHandler).planCancelled,
		wire.PlanCoercion:       (*frameHandler).planInvalid,
		wire.PlanInvalid:        (*frameHandler).planInvalid,
		wire.SolverStart:        (*frameHandler).taskStarted,
		wire.SolverProgress:     func(h *frameHandler) { h.recordTask(protocol.TaskProgress) },
		wire.SolverCompleted:    func(h *frameHandler) { h.recordTask(protocol.TaskCompleted) },
		wire.SolverFailed:       (*frameHandler).stepFailed,
		wire.SolverCancelled:    (*frameHandler).taskCancelled,
		wire.SolverRestarted:    func(h *frameHandler) { h.recordTask(protocol.TaskRestarted) },
		wire.AggregateStart:     (*frameHandler).aggregateStarted,
		wire.AggregateCompleted: func(h *frameHandler) { h.recordAggregate(protocol.AggregateCompleted) },
		wire.PipelineCompleted:  (*frameHandler).pipelineCompleted,

		wire.ErrorValidation:      func(h *frameHandler) { h.recordError(protocol.ErrorKindValidation) },
		wire.ErrorTimeout:         func(h *frameHandler) { h.recordError(protocol.ErrorKindTimeout) },
		wire.ErrorExecution:       func(h *frameHandler) { h.recordError(protocol.ErrorKindExecution) },
		wire.ErrorRetry:           (*frameHandler).retry,
		wire.ErrorRetryAttempt:    (*frameHandler).retry,
		wire.ErrorRecoveryStarted: func(h *frameHandler) { h.recovery(protocol.RecoveryStarted) },
		wire.ErrorRecoverySuccess: func(h *frameHandler) { h.recovery(protocol.RecoverySucceeded) },
		wire.ErrorRecoveryFailed:  func(h *frameHandler) { h.recovery(protocol.RecoveryFailed) },
	}
}

// handleSystem handles frames of no session. It returns false for other frames.
func (h *frameHandler) handleSystem() bool {
	c := h.client
	switch h.event {
	case wire.SystemConnected:
		var can []json.RawMessage
		if !h.content.Decode("capabilities", &can) {
			h.meta.Decode("capabilities", &can)
		}
		for _, name := range can[:min(len(can), 64)] {
			c.capabilities[wire.Scalar(name)] = true
		}
		c.isMyAgent = len(can) == 0
		if version := h.content.Str("server_version"); version != "" {
			c.Responder.Server = wire.Name + "/" + clipID(version)
		}
		return true
	case wire.SystemHeartbeat:
		c.Publish("", protocol.Heartbeat, protocol.HeartbeatData{})
		return true
	case wire.SystemNotice, wire.SystemError, wire.ErrorValidation, wire.AgentError:
		return h.handleReply()
	}
	return false
}

// handleReply finishes the request that the frame answers. It returns false if the frame is no
// reply.
func (h *frameHandler) handleReply() bool {
	c := h.client
	if id := h.meta.Str("reply_to"); id != "" {
		req := c.findRequest(id, "")
		if req == nil {
			return false
		}
		var e protocol.Error
		switch {
		case h.meta.Has("fault") && h.meta.Decode("fault", &e):
			c.finishRequest(req, nil, &e)
		case h.event == wire.SystemNotice && h.meta.Str("action") == wire.ActionReply:
			if req.event == wire.UserCreateSession {
				c.enterSession(wire.ParseObject(h.meta["result"]).Str("session"))
			}
			result := h.meta["result"]
			if len(result) == 0 {
				result = json.RawMessage("{}")
			}
			c.finishRequest(req, result, nil)
		case h.event != wire.SystemNotice:
			c.finishRequest(req, nil, protocol.Errorf(protocol.CodeAgentFailed, "%s", wire.Shorten(h.text())))
		default:
			return false
		}
		return true
	}
	if h.event == wire.SystemNotice || c.capabilities[wire.CapReply] {
		return false
	}
	return h.handleUnmatchedError()
}

// handleUnmatchedError finishes the request that an error without reply_to most likely answers. It
// returns false if none fits.
func (h *frameHandler) handleUnmatchedError() bool {
	text, c := h.text(), h.client
	code := protocol.CodeAgentFailed
	var req *request
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, wire.UserReconnectState), strings.Contains(lower, "invalid state"),
		strings.Contains(lower, "signed_state"), strings.Contains(lower, "already active on another"):
		req, code = c.findRequest("", "", wire.UserReconnectState), protocol.CodeInvalidState
	case strings.Contains(lower, wire.UserReconnect):
		req, code = c.findRequest("", "", wire.UserReconnect), protocol.CodeUnsupported
	case strings.Contains(lower, "cancel_solver"):
		req, code = c.findRequest("", string(h.Session), wire.UserCancelTask), protocol.CodeUnsupported
	case strings.Contains(lower, "restart_solver"):
		req, code = c.findRequest("", string(h.Session), wire.UserRestartTask), protocol.CodeUnsupported
	case strings.Contains(lower, wire.UserRequestState):
		req, code = c.findRequest("", "", wire.UserRequestState), protocol.CodeUnsupported
	case strings.Contains(lower, "session not found"):
		req = c.findRequest("", string(h.Session), wire.UserReconnect, wire.UserReconnectState, wire.UserRequestState)
		code = protocol.CodeNoSession
	case h.event == wire.SystemError:
		req = c.findRequest("", "", wire.UserReconnect, wire.UserReconnectState, wire.UserRequestState, wire.UserCreateSession)
	}
	if req == nil {
		return false
	}
	c.finishRequest(req, nil, protocol.Errorf(code, "%s", wire.Shorten(text)))
	return true
}

// enterSession adds a session to this connection, if necessary.
func (c *Conn) enterSession(id string) *session {
	if id = clipID(id); id == "" {
		return nil
	}
	for _, s := range c.resume.sessions {
		if s.serverID == id {
			s.connected = true
			c.current = s
			return s
		}
	}
	return c.addSession(id)
}
