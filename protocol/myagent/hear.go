package myagent

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A heard is a frame of the server's being taken.
type heard struct {
	*message
	c     *client
	s     *session // nil: of no session
	event string
	data  []byte // whole
	meta  fields
	obj   fields // content, where it is an object
	at    time.Time
	told  bool // by a server that names turns, such as ours
}

// hear takes a frame of the server's.
func (c *client) hear(m *message, data []byte) {
	h := &heard{
		message: m, c: c, event: string(m.Event), data: data, meta: object(m.Metadata), obj: object(m.Content), at: m.when(c.now),
	}
	h.event = unprefixed(h.event)
	h.told = h.meta.has("turn_id") || c.can[canTurns]
	if !h.system() {
		if h.s = c.of(m); h.s == nil {
			return
		}
		if m.Seq > 0 {
			defer func() { // once it is taken
				if seq := uint64(m.Seq); seq > h.s.lastSeq || connectionOf(h.s.last) != m.connection() {
					h.s.lastSeq = seq
					if h.s.last = string(m.ID); h.s.last == "" {
						h.s.last = eventID(m.connection(), seq)
					}
				}
			}()
		}
		h.take()
	}
	c.receipt.took(uint64(m.Seq), h.s)
}

// connection is the server's name for the connection.
func (m *message) connection() string {
	if m.Connection != "" {
		return string(m.Connection)
	}
	return object(m.Metadata).str("connection_id")
}

// unprefixed removes the namespace that a server may put before its events.
func unprefixed(event string) string {
	if hearings[event] != nil {
		return event
	}
	for i := range len(event) {
		if event[i] == '.' && hearings[event[i+1:]] != nil {
			return event[i+1:]
		}
	}
	return event
}

// of returns the session that a frame is about, or nil.
func (c *client) of(m *message) *session {
	if m.Session == "" {
		if c.current == nil {
			if a := c.waiting("", "", userReconnectState, userReconnect); a != nil {
				return a.session
			}
		}
		return c.current
	}
	for _, s := range c.memory.sessions {
		if s.foreign == string(m.Session) {
			return s
		}
	}
	if len(m.Session) > maxID {
		return nil
	}
	return c.begin(string(m.Session))
}

// take takes a frame of a session.
func (h *heard) take() {
	s := h.s
	if s.thought != "" && h.event != agentThinking {
		h.endPart(protocol.ReasoningEnd, s.thought, 0)
		s.thought = ""
	}
	if !s.lapse.IsZero() && h.event != systemNotice {
		s.lapse = time.Time{}
	}
	if h.meta.has("orig_seq") && !h.told && h.known() {
		return // replayed, and heard before
	}
	if of := hearings[h.event]; of != nil {
		of(h)
		return
	}
	h.raw()
}

// known reports whether a replayed frame was heard on the connection before.
func (h *heard) known() bool {
	if !h.s.replays {
		return false
	}
	connection, seq := parseEventID(h.s.had)
	if connection == "" { // the server names no connections
		seq = h.s.hadSeq
	}
	orig := uint64(h.meta.int("orig_seq"))
	return orig > 0 && orig <= seq && connectionOf(h.meta.str("orig_event_id")) == connection
}

func connectionOf(id string) string {
	connection, _ := parseEventID(id)
	return connection
}

// raw keeps a frame that maps to nothing here.
func (h *heard) raw() { h.s.raw(h.c, h.event, h.data) }

// turn is the turn that the frame belongs to; empty: none.
func (h *heard) turn() string {
	if id := clip(h.meta.str("turn_id")); id != "" {
		return id
	}
	if t := h.s.log.State.Turn; t != nil && !h.c.can[canTurns] {
		return t.Turn
	}
	return ""
}

// add records an event with what the frame says around it.
func (h *heard) add(t protocol.Type, data any) {
	h.s.add(h.c, codec.Entry{
		Type: t, Turn: h.turn(), Task: clip(h.meta.str("task_id")), Parent: clip(h.meta.str("parent_id")), By: h.by(), Time: h.at, Data: data,
	})
}

// working makes sure that a turn is under way: a server that names none may be in the middle of one.
func (h *heard) working() {
	if !h.told && h.s.log.State.Turn == nil {
		h.c.start(h.s, protocol.Message{MessageID: h.c.call.ID("m")})
	}
}

func (h *heard) by() *protocol.Actor {
	var by protocol.Actor
	if !h.meta.into("by", &by) || by.Name == "" {
		return nil
	}
	by.Name, by.Subject = clip(by.Name), clip(by.Subject)
	return &by
}

// text is the frame's content for people.
func (h *heard) text() string { return words(h.Content) }

// usage reads tokens_used.
func (h *heard) usage() *protocol.Usage {
	u := new(protocol.Usage)
	o := object(h.meta["tokens_used"])
	if o == nil {
		return nil
	}
	if !h.meta.into("tokens_used", u) {
		*u = protocol.Usage{Input: o.int("input"), Output: o.int("output")}
	}
	return u
}

func (h *heard) ms() int64 { return h.meta.int("execution_time_ms") }

// hearings holds how each event is taken; what is missing is raw.
var hearings map[string]func(*heard)

func init() {
	hearings = map[string]func(*heard){
		systemNotice:        (*heard).notice,
		systemError:         (*heard).systemError,
		agentSessionCreated: (*heard).sessionCreated,
		agentSessionEnd:     (*heard).sessionEnd,
		agentStateExported:  (*heard).stateExported,
		agentStateRestored:  (*heard).stateRestored,

		agentThinking:      (*heard).thinking,
		agentPartialAnswer: (*heard).partialAnswer,
		agentFinalAnswer:   (*heard).finalAnswer,
		agentToolCall:      (*heard).toolCall,
		agentToolResult:    (*heard).toolResult,
		agentUserConfirm:   (*heard).userConfirm,
		agentError:         (*heard).agentError,
		agentTimeout:       (*heard).timeout,
		agentInterrupted:   (*heard).interrupted,

		planStart:          (*heard).planStart,
		planCompleted:      (*heard).planCompleted,
		planCancelled:      (*heard).planCancelled,
		planCoercion:       (*heard).planInvalid,
		planInvalid:        (*heard).planInvalid,
		solverStart:        func(h *heard) { h.solver(protocol.TaskStarted) },
		solverProgress:     func(h *heard) { h.solver(protocol.TaskProgress) },
		solverCompleted:    func(h *heard) { h.solver(protocol.TaskCompleted) },
		solverFailed:       (*heard).stepFailed,
		solverCancelled:    func(h *heard) { h.solver(protocol.TaskCancelled) },
		solverRestarted:    func(h *heard) { h.solver(protocol.TaskRestarted) },
		aggregateStart:     func(h *heard) { h.summing(protocol.AggregateStarted) },
		aggregateCompleted: func(h *heard) { h.summing(protocol.AggregateCompleted) },
		pipelineCompleted:  (*heard).pipeline,

		errorValidation:      func(h *heard) { h.fault(protocol.ErrorKindValidation) },
		errorTimeout:         func(h *heard) { h.fault(protocol.ErrorKindTimeout) },
		errorExecution:       func(h *heard) { h.fault(protocol.ErrorKindExecution) },
		errorRetry:           (*heard).retry,
		errorRetryAttempt:    (*heard).retry,
		errorRecoveryStarted: func(h *heard) { h.recovery(protocol.RecoveryStarted) },
		errorRecoverySuccess: func(h *heard) { h.recovery(protocol.RecoverySucceeded) },
		errorRecoveryFailed:  func(h *heard) { h.recovery(protocol.RecoveryFailed) },
	}
}

// system takes the frames that are about no session; false for all others.
func (h *heard) system() bool {
	c := h.c
	switch h.event {
	case systemConnected:
		var can []json.RawMessage
		if !h.obj.into("capabilities", &can) {
			h.meta.into("capabilities", &can)
		}
		for _, name := range can[:min(len(can), 64)] {
			c.can[plain(name)] = true
		}
		if version := h.obj.str("server_version"); version != "" {
			c.desk.Server = Name + "/" + clip(version)
		}
		return true
	case systemHeartbeat:
		c.out.Native = append(c.out.Native, codec.Ephemeral("", protocol.Heartbeat, c.now, protocol.HeartbeatData{}))
		return true
	case systemNotice, systemError, errorValidation, agentError:
		return h.answered()
	}
	return false
}

// answered gives an ask its answer; false when the frame is none.
func (h *heard) answered() bool {
	c := h.c
	if id := h.meta.str("reply_to"); id != "" {
		a := c.waiting(id, "")
		if a == nil {
			return false
		}
		var e protocol.Error
		switch {
		case h.meta.has("fault") && h.meta.into("fault", &e):
			c.settle(a, nil, &e)
		case h.event == systemNotice && h.meta.str("action") == actionReply:
			if a.event == userCreateSession {
				c.entered(object(h.meta["result"]).str("session"))
			}
			result := h.meta["result"]
			if len(result) == 0 {
				result = json.RawMessage("{}")
			}
			c.settle(a, result, nil)
		case h.event != systemNotice:
			c.settle(a, nil, protocol.Errorf(protocol.CodeAgentFailed, "%s", shorten(h.text())))
		default:
			return false
		}
		return true
	}
	if h.event == systemNotice || c.can[canReply] {
		return false
	}
	return h.refused()
}

// refused takes an error of a server that does not say what it answers: it is of the first frame that it fits.
func (h *heard) refused() bool {
	said, c := h.text(), h.c
	code := protocol.CodeAgentFailed
	var a *ask
	switch lower := strings.ToLower(said); {
	case strings.Contains(lower, userReconnectState), strings.Contains(lower, "invalid state"), strings.Contains(lower, "signed_state"),
		strings.Contains(lower, "already active on another"):
		a, code = c.waiting("", "", userReconnectState), protocol.CodeInvalidState
	case strings.Contains(lower, userReconnect):
		a, code = c.waiting("", "", userReconnect), protocol.CodeUnsupported
	case strings.Contains(lower, userRequestState):
		a, code = c.waiting("", "", userRequestState), protocol.CodeUnsupported
	case strings.Contains(lower, "session not found"):
		a, code = c.waiting("", string(h.Session), userReconnect, userReconnectState, userRequestState), protocol.CodeNoSession
	case h.event == systemError:
		a = c.waiting("", "", userReconnect, userReconnectState, userRequestState, userCreateSession)
	}
	if a == nil {
		return false
	}
	c.settle(a, nil, protocol.Errorf(code, "%s", shorten(said)))
	return true
}

// entered makes a session of this connection, if it is none yet.
func (c *client) entered(id string) *session {
	if id = clip(id); id == "" {
		return nil
	}
	for _, s := range c.memory.sessions {
		if s.foreign == id {
			s.here = true
			c.current = s
			return s
		}
	}
	return c.begin(id)
}
