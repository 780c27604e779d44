package myagent

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A frameHandler handles one frame of the server.
type frameHandler struct {
	*message
	client     *client
	session    *session // nil: of no session
	event      string
	data       []byte // the whole frame
	meta       fields
	content    fields // content, if it is an object
	at         time.Time
	namesTurns bool // the server names turns, as agentctl's does
}

// handleFrame handles a frame of the server.
func (c *client) handleFrame(m *message, data []byte) {
	h := &frameHandler{
		message: m, client: c, event: string(m.Event), data: data, meta: parseObject(m.Metadata),
		content: parseObject(m.Content),
	}
	h.at = c.clock.read(string(m.Timestamp), c.Now, h.meta.has("orig_seq"))
	h.event = unprefixed(h.event)
	h.namesTurns = h.meta.has("turn_id") || c.capabilities[capTurns]
	defer c.seqs.add(uint64(m.Seq))
	if !h.handleSystem() {
		if h.session = c.sessionOf(m); h.session == nil {
			return
		}
		if m.Seq > 0 {
			defer func() { // after the frame is handled
				if seq := uint64(m.Seq); seq > h.session.lastSeq ||
					connectionOf(h.session.lastEventID) != m.connection() {
					h.session.lastSeq = seq
					if h.session.lastEventID = string(m.ID); h.session.lastEventID == "" {
						h.session.lastEventID = eventID(m.connection(), seq)
					}
				}
			}()
		}
		h.handle()
	}
	c.acks.add(uint64(m.Seq), h.session)
}

// connection returns the server's id of the connection.
func (m *message) connection() string {
	if m.Connection != "" {
		return string(m.Connection)
	}
	return parseObject(m.Metadata).str("connection_id")
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
func (c *client) sessionOf(m *message) *session {
	if m.Session == "" {
		if c.current == nil {
			if req := c.findRequest("", "", userReconnectState, userReconnect); req != nil {
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
	if m.Event == agentError { // it refuses a request about a session of another connection
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
	case h.event == agentThinking, h.event == agentLLMMessage, h.event == agentPartialAnswer && !h.namesTurns:
	default:
		h.endReasoning()
	}
	if !s.turnDeadline.IsZero() && h.event != systemNotice {
		s.turnDeadline = time.Time{}
	}
	if h.meta.has("orig_seq") && !h.namesTurns && h.alreadyReceived() {
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
	connection, seq := parseEventID(h.session.restoredFrom)
	if connection == "" { // the server does not name connections
		seq = h.session.restoredFromSeq
	}
	orig := uint64(h.meta.int("orig_seq"))
	return orig > 0 && orig <= seq && connectionOf(h.meta.str("orig_event_id")) == connection
}

func connectionOf(id string) string {
	connection, _ := parseEventID(id)
	return connection
}

// recordRaw records a frame without a native equivalent.
func (h *frameHandler) recordRaw() { h.client.recordRaw(h.session, h.event, h.data) }

// turnID returns the turn of the frame, or "".
func (h *frameHandler) turnID() string {
	if id := clipID(h.meta.str("turn_id")); id != "" {
		return id
	}
	if t := h.session.log.State.Turn; t != nil && !h.client.capabilities[capTurns] {
		return t.Turn
	}
	return ""
}

// record records an event with the frame's turn, task, parent, actor and time.
func (h *frameHandler) record(t protocol.Type, data any) {
	h.client.record(h.session, codec.Entry{
		Type: t, Turn: h.turnID(), Task: clipID(h.meta.str("task_id")), Parent: clipID(h.meta.str("parent_id")),
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
	if !h.meta.decode("by", &by) || by.Name == "" {
		return nil
	}
	by.Name, by.Subject = clipID(by.Name), clipID(by.Subject)
	return &by
}

// text returns the frame's content as text.
func (h *frameHandler) text() string { return contentText(h.Content) }

// usage decodes tokens_used.
func (h *frameHandler) usage() *protocol.Usage {
	u := new(protocol.Usage)
	o := parseObject(h.meta["tokens_used"])
	if o == nil {
		return nil
	}
	if !h.meta.decode("tokens_used", u) {
		*u = protocol.Usage{Input: o.int("input"), Output: o.int("output")}
	}
	return u
}

func (h *frameHandler) executionMS() int64 { return h.meta.int("execution_time_ms") }

// frameHandlers maps events to their handlers. Other events are recorded raw.
var frameHandlers map[string]func(*frameHandler)

func init() {
	frameHandlers = map[string]func(*frameHandler){
		systemNotice:        (*frameHandler).notice,
		systemError:         (*frameHandler).systemError,
		agentSessionCreated: (*frameHandler).sessionCreated,
		agentSessionEnd:     (*frameHandler).sessionEnd,
		agentStateExported:  (*frameHandler).stateExported,
		agentStateRestored:  (*frameHandler).stateRestored,

		agentLLMMessage:    func(*frameHandler) {}, // repeats the conversation
		agentThinking:      (*frameHandler).thinking,
		agentPartialAnswer: (*frameHandler).partialAnswer,
		agentFinalAnswer:   (*frameHandler).finalAnswer,
		agentToolCall:      (*frameHandler).toolCall,
		agentToolResult:    (*frameHandler).toolResult,
		agentUserConfirm:   (*frameHandler).userConfirm,
		agentError:         (*frameHandler).agentError,
		agentTimeout:       (*frameHandler).timeout,
		agentInterrupted:   (*frameHandler).interrupted,

		planStart:          (*frameHandler).planStart,
		planCompleted:      (*frameHandler).planCompleted,
		planCancelled:      (*frameHandler).planCancelled,
		planCoercion:       (*frameHandler).planInvalid,
		planInvalid:        (*frameHandler).planInvalid,
		solverStart:        (*frameHandler).taskStarted,
		solverProgress:     func(h *frameHandler) { h.recordTask(protocol.TaskProgress) },
		solverCompleted:    func(h *frameHandler) { h.recordTask(protocol.TaskCompleted) },
		solverFailed:       (*frameHandler).stepFailed,
		solverCancelled:    (*frameHandler).taskCancelled,
		solverRestarted:    func(h *frameHandler) { h.recordTask(protocol.TaskRestarted) },
		aggregateStart:     (*frameHandler).aggregateStarted,
		aggregateCompleted: func(h *frameHandler) { h.recordAggregate(protocol.AggregateCompleted) },
		pipelineCompleted:  (*frameHandler).pipelineCompleted,

		errorValidation:      func(h *frameHandler) { h.recordError(protocol.ErrorKindValidation) },
		errorTimeout:         func(h *frameHandler) { h.recordError(protocol.ErrorKindTimeout) },
		errorExecution:       func(h *frameHandler) { h.recordError(protocol.ErrorKindExecution) },
		errorRetry:           (*frameHandler).retry,
		errorRetryAttempt:    (*frameHandler).retry,
		errorRecoveryStarted: func(h *frameHandler) { h.recovery(protocol.RecoveryStarted) },
		errorRecoverySuccess: func(h *frameHandler) { h.recovery(protocol.RecoverySucceeded) },
		errorRecoveryFailed:  func(h *frameHandler) { h.recovery(protocol.RecoveryFailed) },
	}
}

// handleSystem handles frames of no session. It returns false for other frames.
func (h *frameHandler) handleSystem() bool {
	c := h.client
	switch h.event {
	case systemConnected:
		var can []json.RawMessage
		if !h.content.decode("capabilities", &can) {
			h.meta.decode("capabilities", &can)
		}
		for _, name := range can[:min(len(can), 64)] {
			c.capabilities[scalarText(name)] = true
		}
		c.isMyAgent = len(can) == 0
		if version := h.content.str("server_version"); version != "" {
			c.Responder.Server = Name + "/" + clipID(version)
		}
		return true
	case systemHeartbeat:
		c.Publish("", protocol.Heartbeat, protocol.HeartbeatData{})
		return true
	case systemNotice, systemError, errorValidation, agentError:
		return h.handleReply()
	}
	return false
}

// handleReply finishes the request that the frame answers. It returns false if the frame is no
// reply.
func (h *frameHandler) handleReply() bool {
	c := h.client
	if id := h.meta.str("reply_to"); id != "" {
		req := c.findRequest(id, "")
		if req == nil {
			return false
		}
		var e protocol.Error
		switch {
		case h.meta.has("fault") && h.meta.decode("fault", &e):
			c.finishRequest(req, nil, &e)
		case h.event == systemNotice && h.meta.str("action") == actionReply:
			if req.event == userCreateSession {
				c.enterSession(parseObject(h.meta["result"]).str("session"))
			}
			result := h.meta["result"]
			if len(result) == 0 {
				result = json.RawMessage("{}")
			}
			c.finishRequest(req, result, nil)
		case h.event != systemNotice:
			c.finishRequest(req, nil, protocol.Errorf(protocol.CodeAgentFailed, "%s", shorten(h.text())))
		default:
			return false
		}
		return true
	}
	if h.event == systemNotice || c.capabilities[capReply] {
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
	case strings.Contains(lower, userReconnectState), strings.Contains(lower, "invalid state"),
		strings.Contains(lower, "signed_state"), strings.Contains(lower, "already active on another"):
		req, code = c.findRequest("", "", userReconnectState), protocol.CodeInvalidState
	case strings.Contains(lower, userReconnect):
		req, code = c.findRequest("", "", userReconnect), protocol.CodeUnsupported
	case strings.Contains(lower, "cancel_solver"):
		req, code = c.findRequest("", string(h.Session), userCancelTask), protocol.CodeUnsupported
	case strings.Contains(lower, "restart_solver"):
		req, code = c.findRequest("", string(h.Session), userRestartTask), protocol.CodeUnsupported
	case strings.Contains(lower, userRequestState):
		req, code = c.findRequest("", "", userRequestState), protocol.CodeUnsupported
	case strings.Contains(lower, "session not found"):
		req = c.findRequest("", string(h.Session), userReconnect, userReconnectState, userRequestState)
		code = protocol.CodeNoSession
	case h.event == systemError:
		req = c.findRequest("", "", userReconnect, userReconnectState, userRequestState, userCreateSession)
	}
	if req == nil {
		return false
	}
	c.finishRequest(req, nil, protocol.Errorf(code, "%s", shorten(text)))
	return true
}

// enterSession adds a session to this connection, if necessary.
func (c *client) enterSession(id string) *session {
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
