package server

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// A request is a frame of the client.
type request struct {
	*wire.Message
	meta     wire.Fields
	event    string
	x        *exchange
	attacher *attacher
}

// handler returns the handler of the frame, or nil if its event is unknown.
func (c *request) handler() func() {
	switch c.event {
	case wire.UserCreateSession:
		return func() { c.attacher.create(c) }
	case wire.UserReconnect:
		return func() { c.attacher.reconnect(c) }
	case wire.UserReconnectState:
		return func() { c.attacher.restore(c) }
	case wire.UserMessage:
		return c.message
	case wire.UserSolveTasks:
		return c.solve
	case wire.UserResponse:
		return c.response
	case wire.UserCancel:
		return c.cancel
	case wire.UserCancelPlan:
		return c.cancelPlan
	case wire.UserReplan:
		return c.replan
	case wire.UserCancelTask:
		return func() { c.task(protocol.DoTaskCancel) }
	case wire.UserRestartTask, wire.UserRetryTask:
		return func() { c.task(protocol.DoTaskRestart) }
	case wire.UserRequestHistory:
		return c.history
	case wire.UserRequestState:
		return c.export
	}
	return nil
}

// withSession calls then with the session that the frame names, and subscribes to it if necessary.
func (c *request) withSession(then func(*subscription)) { c.attacher.withSession(c, then) }

// key returns the idempotency key of a frame, or "".
func (c *request) key() string {
	key := c.meta.Str("key")
	if len(key) > 128 {
		return ""
	}
	return key
}

// command sends a native command for a frame and replies with the answer. then may be nil; it
// gets the result before the reply.
func (c *request) command(verb protocol.Verb, session string, data any, then func(json.RawMessage)) {
	c.x.Request(verb, session, c.key(), data, func(a protocol.Answer) {
		if a.Error != nil {
			c.refuse(a.Error)
			return
		}
		if then != nil {
			then(a.Result)
		}
		c.reply(session, a.Result)
	})
}

// reply answers a frame that asks for a reply.
func (c *request) reply(session string, result json.RawMessage) {
	id := c.meta.Str("reply_to")
	if id == "" {
		return
	}
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	c.notify(session, "ok", wire.Meta{
		"action": wire.ActionReply, "reply_to": id, "in_reply_to": c.event, "result": result,
	})
}

// refuse answers a frame with an error.
func (c *request) refuse(err *protocol.Error) {
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
	c.x.send(f)
}

// concernsPast reports whether a request came too late: the task ended, or the confirmation was
// decided. MyAgent's clients take an agent.error for the end of the turn.
func (c *request) concernsPast(err *protocol.Error) bool {
	switch c.event {
	case wire.UserResponse, wire.UserCancelTask, wire.UserRestartTask, wire.UserRetryTask:
		return !c.meta.Has("reply_to") && (err.Code == protocol.CodeNotFound || err.Code == protocol.CodeConflict)
	}
	return false
}

// refuseInvalid refuses a frame with invalid content.
func (c *request) refuseInvalid(text string) {
	c.refuse(protocol.Errorf(protocol.CodeInvalidMessage, "%s: %s", c.event, text))
}

// notify sends a notice that answers the frame.
func (c *request) notify(session, text string, m wire.Meta) {
	c.x.sendNotice(session, string(c.Step), text, m)
}

// acknowledge reports that a request about a task or plan was carried out, to a client that expects
// no reply.
func (c *request) acknowledge(session, text string, m wire.Meta) {
	if c.meta.Has("reply_to") {
		return
	}
	m["action"], m["ok"] = c.action(), true
	c.notify(session, text, m)
}

// taskID returns the task of a request, or "".
func (c *request) taskID() string {
	if id := wire.ParseObject(c.Content).Str("task_id", "id"); id != "" {
		return id
	}
	return wire.Scalar(c.Content)
}

// action returns the name of a request in notices about it.
func (c *request) action() string { return strings.TrimPrefix(c.event, "user.") }
