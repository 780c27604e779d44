package myagent

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A heard is a frame of the server's being taken.
type frameHandler struct {
	*message
	client     *clientCodec
	session    *session // nil: of no session
	event      string
	data       []byte // whole
	meta       fields
	content    fields // content, where it is an object
	at         time.Time
	namesTurns bool // by a server that names turns, such as ours
}

// hear takes a frame of the server's.
func (c *clientCodec) handleFrame(m *message, data []byte) {
	h := &frameHandler{
		message: m, client: c, event: string(m.Event), data: data, meta: parseObject(m.Metadata), content: parseObject(m.Content), at: m.sentAt(c.now),
	}
	h.event = unprefixed(h.event)
	h.namesTurns = h.meta.has("turn_id") || c.capabilities[capTurns]
	if !h.handleSystem() {
		if h.session = c.sessionOf(m); h.session == nil {
			return
		}
		if m.Seq > 0 {
			defer func() { // once it is taken
				if seq := uint64(m.Seq); seq > h.session.lastSeq || connectionOf(h.session.lastEventID) != m.connection() {
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

// connection is the server's name for the connection.
func (m *message) connection() string {
	if m.Connection != "" {
		return string(m.Connection)
	}
	return parseObject(m.Metadata).str("connection_id")
}

// unprefixed removes the namespace that a server may put before its events.
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

// of returns the session that a frame is about, or nil.
func (c *clientCodec) sessionOf(m *message) *session {
	if m.Session == "" {
		if c.current == nil {
			if a := c.findRequest("", "", userReconnectState, userReconnect); a != nil {
				return a.session
			}
		}
		return c.current
	}
	for _, s := range c.resume.sessions {
		if s.serverID == string(m.Session) {
			return s
		}
	}
	if len(m.Session) > maxID {
		return nil
	}
	return c.addSession(string(m.Session))
}

// take takes a frame of a session.
func (h *frameHandler) handle() {
	s := h.session
	if s.openReasoning != "" && h.event != agentThinking {
		h.endPart(protocol.ReasoningEnd, s.openReasoning, 0)
		s.openReasoning = ""
	}
	if !s.turnDeadline.IsZero() && h.event != systemNotice {
		s.turnDeadline = time.Time{}
	}
	if h.meta.has("orig_seq") && !h.namesTurns && h.alreadyReceived() {
		return // replayed, and heard before
	}
	if of := frameHandlers[h.event]; of != nil {
		of(h)
		return
	}
	h.recordRaw()
}

// known reports whether a replayed frame was heard on the connection before.
func (h *frameHandler) alreadyReceived() bool {
	if !h.session.replaying {
		return false
	}
	connection, seq := parseEventID(h.session.restoredFrom)
	if connection == "" { // the server names no connections
		seq = h.session.restoredFromSeq
	}
	orig := uint64(h.meta.int("orig_seq"))
	return orig > 0 && orig <= seq && connectionOf(h.meta.str("orig_event_id")) == connection
}

func connectionOf(id string) string {
	connection, _ := parseEventID(id)
	return connection
}

// raw keeps a frame that maps to nothing here.
func (h *frameHandler) recordRaw() { h.session.recordRaw(h.client, h.event, h.data) }

// turn is the turn that the frame belongs to; empty: none.
func (h *frameHandler) turnID() string {
	if id := clipID(h.meta.str("turn_id")); id != "" {
		return id
	}
	if t := h.session.log.State.Turn; t != nil && !h.client.capabilities[capTurns] {
		return t.Turn
	}
	return ""
}

// add records an event with what the frame says around it.
func (h *frameHandler) record(t protocol.Type, data any) {
	h.session.record(h.client, codec.Entry{
		Type: t, Turn: h.turnID(), Task: clipID(h.meta.str("task_id")), Parent: clipID(h.meta.str("parent_id")), By: h.actor(), Time: h.at, Data: data,
	})
}

// working makes sure that a turn is under way: a server that names none may be in the middle of one.
func (h *frameHandler) ensureTurn() {
	if !h.namesTurns && h.session.log.State.Turn == nil {
		h.client.startTurn(h.session, protocol.Message{MessageID: h.client.options.ID("m")})
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

// text is the frame's content for people.
func (h *frameHandler) text() string { return contentText(h.Content) }

// usage reads tokens_used.
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

// hearings holds how each event is taken; what is missing is raw.
var frameHandlers map[string]func(*frameHandler)

func init() {
	frameHandlers = map[string]func(*frameHandler){
		systemNotice:        (*frameHandler).notice,
		systemError:         (*frameHandler).systemError,
		agentSessionCreated: (*frameHandler).sessionCreated,
		agentSessionEnd:     (*frameHandler).sessionEnd,
		agentStateExported:  (*frameHandler).stateExported,
		agentStateRestored:  (*frameHandler).stateRestored,

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
		solverStart:        func(h *frameHandler) { h.recordTask(protocol.TaskStarted) },
		solverProgress:     func(h *frameHandler) { h.recordTask(protocol.TaskProgress) },
		solverCompleted:    func(h *frameHandler) { h.recordTask(protocol.TaskCompleted) },
		solverFailed:       (*frameHandler).stepFailed,
		solverCancelled:    func(h *frameHandler) { h.recordTask(protocol.TaskCancelled) },
		solverRestarted:    func(h *frameHandler) { h.recordTask(protocol.TaskRestarted) },
		aggregateStart:     func(h *frameHandler) { h.recordAggregate(protocol.AggregateStarted) },
		aggregateCompleted: func(h *frameHandler) { h.recordAggregate(protocol.AggregateCompleted) },
		pipelineCompleted:  (*frameHandler).pipelineCompleted,

		errorValidation:      func(h *frameHandler) { h.recordError(protocol.FaultValidation) },
		errorTimeout:         func(h *frameHandler) { h.recordError(protocol.FaultTimeout) },
		errorExecution:       func(h *frameHandler) { h.recordError(protocol.FaultExecution) },
		errorRetry:           (*frameHandler).retry,
		errorRetryAttempt:    (*frameHandler).retry,
		errorRecoveryStarted: func(h *frameHandler) { h.recovery(protocol.RecoveryStarted) },
		errorRecoverySuccess: func(h *frameHandler) { h.recovery(protocol.RecoverySucceeded) },
		errorRecoveryFailed:  func(h *frameHandler) { h.recovery(protocol.RecoveryFailed) },
	}
}

// system takes the frames that are about no session; false for all others.
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
		if version := h.content.str("server_version"); version != "" {
			c.responder.Server = Name + "/" + clipID(version)
		}
		return true
	case systemHeartbeat:
		c.out.Native = append(c.out.Native, codec.Ephemeral("", protocol.Heartbeat, c.now, protocol.HeartbeatData{}))
		return true
	case systemNotice, systemError, errorValidation, agentError:
		return h.handleReply()
	}
	return false
}

// answered gives an ask its answer; false when the frame is none.
func (h *frameHandler) handleReply() bool {
	c := h.client
	if id := h.meta.str("reply_to"); id != "" {
		a := c.findRequest(id, "")
		if a == nil {
			return false
		}
		var e protocol.Error
		switch {
		case h.meta.has("fault") && h.meta.decode("fault", &e):
			c.finishRequest(a, nil, &e)
		case h.event == systemNotice && h.meta.str("action") == actionReply:
			if a.event == userCreateSession {
				c.enterSession(parseObject(h.meta["result"]).str("session"))
			}
			result := h.meta["result"]
			if len(result) == 0 {
				result = json.RawMessage("{}")
			}
			c.finishRequest(a, result, nil)
		case h.event != systemNotice:
			c.finishRequest(a, nil, protocol.Errorf(protocol.CodeAgentFailed, "%s", shorten(h.text())))
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

// refused takes an error of a server that does not say what it answers: it is of the first frame that it fits.
func (h *frameHandler) handleUnmatchedError() bool {
	text, c := h.text(), h.client
	code := protocol.CodeAgentFailed
	var a *request
	switch lower := strings.ToLower(text); {
	case strings.Contains(lower, userReconnectState), strings.Contains(lower, "invalid state"), strings.Contains(lower, "signed_state"),
		strings.Contains(lower, "already active on another"):
		a, code = c.findRequest("", "", userReconnectState), protocol.CodeInvalidState
	case strings.Contains(lower, userReconnect):
		a, code = c.findRequest("", "", userReconnect), protocol.CodeUnsupported
	case strings.Contains(lower, userRequestState):
		a, code = c.findRequest("", "", userRequestState), protocol.CodeUnsupported
	case strings.Contains(lower, "session not found"):
		a, code = c.findRequest("", string(h.Session), userReconnect, userReconnectState, userRequestState), protocol.CodeNoSession
	case h.event == systemError:
		a = c.findRequest("", "", userReconnect, userReconnectState, userRequestState, userCreateSession)
	}
	if a == nil {
		return false
	}
	c.finishRequest(a, nil, protocol.Errorf(code, "%s", shorten(text)))
	return true
}

// entered makes a session of this connection, if it is none yet.
func (c *clientCodec) enterSession(id string) *session {
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
