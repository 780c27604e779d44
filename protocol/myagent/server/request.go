package server

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// A request is a frame of the client.
type request struct {
	*wire.Message
	meta  wire.Fields
	event string
}

// handleFrame executes a frame of the client.
func (s *Conn) handleFrame(m *wire.Message) {
	c := &request{Message: m, meta: wire.ParseObject(m.Metadata), event: string(m.Event)}
	if c.event == wire.UserAck {
		s.sentFrames.ack(min(c.AckedSeq(), s.seq))
		return
	}
	handler := s.handlerOf(c.event)
	if handler == nil {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeUnknownCommand,
			"Unknown event type or missing session_id: %.100s", c.event))
		return
	}
	if s.Requests.Pending()+s.deferred >= maxPendingCommands {
		e := protocol.Errorf(protocol.CodeTooMany, "Too many requests at once")
		e.Limit = maxPendingCommands
		s.sendRefusal(c, e)
		return
	}
	handler(c)
}

// handlerOf returns the handler of an event, or nil.
func (s *Conn) handlerOf(event string) func(*request) {
	switch event {
	case wire.UserCreateSession:
		return s.handleCreate
	case wire.UserReconnect:
		return s.handleReconnect
	case wire.UserReconnectState:
		return s.handleRestore
	case wire.UserMessage:
		return s.handleMessage
	case wire.UserSolveTasks:
		return s.handleSolve
	case wire.UserResponse:
		return s.handleResponse
	case wire.UserCancel:
		return s.handleCancel
	case wire.UserCancelPlan:
		return s.handleCancelPlan
	case wire.UserReplan:
		return s.handleReplan
	case wire.UserCancelTask:
		return func(c *request) { s.handleTask(c, protocol.DoTaskCancel) }
	case wire.UserRestartTask, wire.UserRetryTask:
		return func(c *request) { s.handleTask(c, protocol.DoTaskRestart) }
	case wire.UserRequestHistory:
		return s.handleHistory
	case wire.UserRequestState:
		return s.handleExport
	}
	return nil
}

// withSession calls then with the session that the frame names, and subscribes to it if necessary.
func (s *Conn) withSession(c *request, then func(*subscription)) {
	name := string(c.Session)
	if (name == "" || s.findSubscription(name) == nil) && s.deferUntilJoined(func(err *protocol.Error) {
		// a frame for a failed session must not reach another one
		if name == "" && err != nil && s.joining == nil {
			s.sendRefusal(c, err)
			return
		}
		s.withSession(c, then)
	}) {
		return
	}
	if name == "" {
		name = s.current
	}
	if name == "" {
		s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidMessage,
			"Unknown event type or missing session_id: %s", c.event))
		return
	}
	if sub := s.findSubscription(name); sub != nil {
		s.current = sub.session
		then(sub)
		return
	}
	if !s.checkRoom(c, name) {
		return
	}
	j := s.startJoin()
	s.subscribe(name, nil, func(sub *subscription, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.sendRefusal(c, err)
			s.finishJoin(j, "", err)
			return
		}
		s.aliases[name] = sub.session
		s.goLive(sub, nil)
		then(sub)
		s.finishJoin(j, sub.session, nil)
	})
}

// findSubscription returns the live subscription with a name or id, or nil.
func (s *Conn) findSubscription(name string) *subscription {
	sub := s.subscriptions[name]
	if sub == nil {
		sub = s.subscriptions[s.aliases[name]]
	}
	if sub == nil || !sub.live {
		return nil
	}
	return sub
}

// checkRoom reports whether one more session fits, and refuses the frame if not.
func (s *Conn) checkRoom(c *request, name string) bool {
	if len(s.subscriptions)+s.Requests.Pending() < maxSubscriptions+maxPendingCommands &&
		len(s.subscriptions) < maxSubscriptions && len(s.aliases) < 4*maxSubscriptions && len(name) <= 256 {
		return true
	}
	e := protocol.Errorf(protocol.CodeTooMany, "Too many sessions on one connection")
	e.Limit = maxSubscriptions
	s.sendRefusal(c, e)
	return false
}

// key returns the idempotency key of a frame, or "".
func (f *request) key() string {
	key := f.meta.Str("key")
	if len(key) > 128 {
		return ""
	}
	return key
}

// sendCommand sends a native command for a frame and replies with the answer. then may be nil; it
// gets the result before the reply.
func (s *Conn) sendCommand(c *request, verb protocol.Verb, session string, data any, then func(json.RawMessage)) {
	s.Request(verb, session, c.key(), data, func(a protocol.Answer) {
		if a.Error != nil {
			s.sendRefusal(c, a.Error)
			return
		}
		if then != nil {
			then(a.Result)
		}
		s.sendReply(c, session, a.Result)
	})
}

// sendReply answers a frame that asks for a reply.
func (s *Conn) sendReply(c *request, session string, result json.RawMessage) {
	id := c.meta.Str("reply_to")
	if id == "" {
		return
	}
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	f := notice("ok", wire.Meta{"action": wire.ActionReply, "reply_to": id, "in_reply_to": c.event, "result": result})
	f.Session, f.Step = session, wire.StepID(string(c.Step))
	s.send(f)
}

// sendRefusal answers a frame with an error.
func (s *Conn) sendRefusal(c *request, err *protocol.Error) {
	text := err.Message
	m := wire.Meta{"error_type": string(err.Code), "in_reply_to": wire.Shorten(c.event)}
	if id := c.meta.Str("reply_to"); id != "" {
		m["reply_to"], m["fault"] = id, err
	}
	f := wire.Frame{Session: string(c.Session), Step: wire.StepID(string(c.Step)), Event: wire.AgentError, Show: showError}
	if c.concernsPast(err) {
		f.Event, m["action"], m["ok"] = wire.SystemNotice, c.action(), false
		if id := c.taskID(); id != "" {
			m["task_id"] = wire.TaskID(id)
		}
	}
	switch err.Code {
	case protocol.CodeUnknownCommand, protocol.CodeInvalidState:
		f.Event, f.Session = wire.SystemError, ""
	case protocol.CodeInvalidMessage:
		f.Event, f.Show = wire.ErrorValidation, showInvalid
		m["errors"] = []wire.Meta{{"field": "content", "message": text}}
	case protocol.CodeNoSession:
		text = "Session not found"
	}
	m["error"], f.Content, f.Meta = text, text, m
	s.send(f)
}

// concernsPast reports whether a request came too late: the task ended, or the confirmation was
// decided. MyAgent's clients take an agent.error for the end of the turn.
func (f *request) concernsPast(err *protocol.Error) bool {
	switch f.event {
	case wire.UserResponse, wire.UserCancelTask, wire.UserRestartTask, wire.UserRetryTask:
		return !f.meta.Has("reply_to") && (err.Code == protocol.CodeNotFound || err.Code == protocol.CodeConflict)
	}
	return false
}

// refuseInvalid refuses a frame with invalid content.
func (s *Conn) refuseInvalid(c *request, text string) {
	s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidMessage, "%s: %s", c.event, text))
}
