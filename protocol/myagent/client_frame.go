package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// A clientFrame is a request of the client.
type clientFrame struct {
	*message
	meta  fields
	event string
}

// handleFrame executes a frame of the client.
func (s *server) handleFrame(m *message) {
	c := &clientFrame{message: m, meta: parseObject(m.Metadata), event: string(m.Event)}
	if c.event == userAck {
		s.sentFrames.ack(min(c.ackedSeq(), s.seq))
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
func (s *server) handlerOf(event string) func(*clientFrame) {
	switch event {
	case userCreateSession:
		return s.handleCreate
	case userReconnect:
		return s.handleReconnect
	case userReconnectState:
		return s.handleRestore
	case userMessage:
		return s.handleMessage
	case userSolveTasks:
		return s.handleSolve
	case userResponse:
		return s.handleResponse
	case userCancel:
		return s.handleCancel
	case userCancelPlan:
		return s.handleCancelPlan
	case userReplan:
		return s.handleReplan
	case userCancelTask:
		return func(c *clientFrame) { s.handleTask(c, protocol.DoTaskCancel) }
	case userRestartTask, userRetryTask:
		return func(c *clientFrame) { s.handleTask(c, protocol.DoTaskRestart) }
	case userRequestHistory:
		return s.handleHistory
	case userRequestState:
		return s.handleExport
	}
	return nil
}

// withSession calls then with the session that the frame names, and subscribes to it if necessary.
func (s *server) withSession(c *clientFrame, then func(*subscription)) {
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
func (s *server) findSubscription(name string) *subscription {
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
func (s *server) checkRoom(c *clientFrame, name string) bool {
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
func (f *clientFrame) key() string {
	key := f.meta.str("key")
	if len(key) > 128 {
		return ""
	}
	return key
}

// sendCommand sends a native command for a frame and replies with the answer. then may be nil; it
// gets the result before the reply.
func (s *server) sendCommand(c *clientFrame, verb protocol.Verb, session string, data any, then func(json.RawMessage)) {
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
func (s *server) sendReply(c *clientFrame, session string, result json.RawMessage) {
	id := c.meta.str("reply_to")
	if id == "" {
		return
	}
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	f := notice("ok", meta{"action": actionReply, "reply_to": id, "in_reply_to": c.event, "result": result})
	f.Session, f.Step = session, stepID(string(c.Step))
	s.send(f)
}

// sendRefusal answers a frame with an error.
func (s *server) sendRefusal(c *clientFrame, err *protocol.Error) {
	text := err.Message
	m := meta{"error_type": string(err.Code), "in_reply_to": shorten(c.event)}
	if id := c.meta.str("reply_to"); id != "" {
		m["reply_to"], m["fault"] = id, err
	}
	f := frame{Session: string(c.Session), Step: stepID(string(c.Step)), Event: agentError, Show: showError}
	if c.concernsPast(err) {
		f.Event, m["action"], m["ok"] = systemNotice, c.action(), false
		if id := c.taskID(); id != "" {
			m["task_id"] = taskID(id)
		}
	}
	switch err.Code {
	case protocol.CodeUnknownCommand, protocol.CodeInvalidState:
		f.Event, f.Session = systemError, ""
	case protocol.CodeInvalidMessage:
		f.Event, f.Show = errorValidation, showInvalid
		m["errors"] = []meta{{"field": "content", "message": text}}
	case protocol.CodeNoSession:
		text = "Session not found"
	}
	m["error"], f.Content, f.Meta = text, text, m
	s.send(f)
}

// concernsPast reports whether a request came too late: the task ended, or the confirmation was
// decided. MyAgent's clients take an agent.error for the end of the turn.
func (f *clientFrame) concernsPast(err *protocol.Error) bool {
	switch f.event {
	case userResponse, userCancelTask, userRestartTask, userRetryTask:
		return !f.meta.has("reply_to") && (err.Code == protocol.CodeNotFound || err.Code == protocol.CodeConflict)
	}
	return false
}

// refuseInvalid refuses a frame with invalid content.
func (s *server) refuseInvalid(c *clientFrame, text string) {
	s.sendRefusal(c, protocol.Errorf(protocol.CodeInvalidMessage, "%s: %s", c.event, text))
}
