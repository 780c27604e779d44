package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// A call is a frame of the client's that wants something.
type call struct {
	*message
	meta  fields
	event string
}

// user carries out a frame of the client's.
func (s *server) user(m *message) {
	c := &call{message: m, meta: object(m.Metadata), event: string(m.Event)}
	if c.event == userAck {
		s.marks.ack(min(c.acked(), s.seq))
		return
	}
	do := s.verb(c.event)
	if do == nil {
		s.refuse(c, protocol.Errorf(protocol.CodeUnknownCommand, "Unknown event type or missing session_id: %.100s", c.event))
		return
	}
	if s.requests.Pending()+s.held >= maxWaiting {
		e := protocol.Errorf(protocol.CodeTooMany, "Too many requests at once")
		e.Limit = maxWaiting
		s.refuse(c, e)
		return
	}
	do(c)
}

// verb returns what carries out an event of the client's, or nil.
func (s *server) verb(event string) func(*call) {
	switch event {
	case userCreateSession:
		return s.create
	case userReconnect:
		return s.reconnect
	case userReconnectState:
		return s.restore
	case userMessage:
		return s.message
	case userSolveTasks:
		return s.solve
	case userResponse:
		return s.response
	case userCancel:
		return s.cancel
	case userCancelPlan:
		return s.cancelPlan
	case userReplan:
		return s.replan
	case userCancelTask:
		return func(c *call) { s.task(c, protocol.DoTaskCancel) }
	case userRestartTask, userRetryTask:
		return func(c *call) { s.task(c, protocol.DoTaskRestart) }
	case userRequestHistory:
		return s.history
	case userRequestState:
		return s.export
	}
	return nil
}

// in carries out then in the session that the call names, which the client follows from now on.
func (s *server) in(c *call, then func(*follow)) {
	name := string(c.Session)
	if (name == "" || s.followed(name) == nil) && s.waits(func(err *protocol.Error) {
		if name == "" && err != nil && s.arriving == nil { // what was meant for one that never came must not reach another
			s.refuse(c, err)
			return
		}
		s.in(c, then)
	}) {
		return
	}
	if name == "" {
		name = s.current
	}
	if name == "" {
		s.refuse(c, protocol.Errorf(protocol.CodeInvalidMessage, "Unknown event type or missing session_id: %s", c.event))
		return
	}
	if f := s.followed(name); f != nil {
		s.current = f.session
		then(f)
		return
	}
	if !s.room(c, name) {
		return
	}
	a := s.arrive()
	s.attach(name, nil, func(f *follow, _ *protocol.SubscribeResult, err *protocol.Error) {
		if err != nil {
			s.refuse(c, err)
			s.arrived(a, "", err)
			return
		}
		s.names[name] = f.session
		s.begin(f, nil)
		then(f)
		s.arrived(a, f.session, nil)
	})
}

// followed returns the session that the client follows by that name, or nil.
func (s *server) followed(name string) *follow {
	f := s.follows[name]
	if f == nil {
		f = s.follows[s.names[name]]
	}
	if f == nil || !f.live {
		return nil
	}
	return f
}

// room reports whether one session more can be followed.
func (s *server) room(c *call, name string) bool {
	if len(s.follows)+s.requests.Pending() < maxFollows+maxWaiting && len(s.follows) < maxFollows && len(s.names) < 4*maxFollows && len(name) <= 256 {
		return true
	}
	e := protocol.Errorf(protocol.CodeTooMany, "Too many sessions on one connection")
	e.Limit = maxFollows
	s.refuse(c, e)
	return false
}

// key is what makes a call idempotent; empty: nothing.
func (c *call) key() string {
	key := c.meta.str("key")
	if len(key) > 128 {
		return ""
	}
	return key
}

// do sends a native command; its answer is the call's, unless then (which may be nil) is told the result first.
func (s *server) do(c *call, verb protocol.Verb, session string, data any, then func(json.RawMessage)) {
	s.requests.Do(s.out, verb, session, c.key(), data, func(a protocol.Answer) {
		if a.Error != nil {
			s.refuse(c, a.Error)
			return
		}
		if then != nil {
			then(a.Result)
		}
		s.reply(c, session, a.Result)
	})
}

// reply answers a call that asked for it.
func (s *server) reply(c *call, session string, result json.RawMessage) {
	id := c.meta.str("reply_to")
	if id == "" {
		return
	}
	if len(result) == 0 {
		result = json.RawMessage("{}")
	}
	f := noticeFrame("ok", meta{"action": actionReply, "reply_to": id, "in_reply_to": c.event, "result": result})
	f.Session, f.Step = session, string(c.Step)
	s.send(f)
}

// refuse answers a call with an error, in the word that fits it.
func (s *server) refuse(c *call, err *protocol.Error) {
	words := err.Message
	m := meta{"error_type": string(err.Code), "in_reply_to": shorten(c.event)}
	if id := c.meta.str("reply_to"); id != "" {
		m["reply_to"], m["fault"] = id, err
	}
	f := frame{Session: string(c.Session), Step: string(c.Step), Event: agentError, Show: showError}
	switch err.Code {
	case protocol.CodeUnknownCommand, protocol.CodeInvalidState:
		f.Event, f.Session = systemError, ""
	case protocol.CodeInvalidMessage:
		f.Event, f.Show = errorValidation, showInvalid
		m["errors"] = []meta{{"field": "content", "message": words}}
	case protocol.CodeNoSession:
		words = "Session not found"
	}
	m["error"], f.Content, f.Meta = words, words, m
	s.send(f)
}

// invalid refuses a call for what a field holds.
func (s *server) invalid(c *call, words string) {
	s.refuse(c, protocol.Errorf(protocol.CodeInvalidMessage, "%s: %s", c.event, words))
}
