package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// encoded lists the native events that have another frame than a notice, or none.
var encoded = map[protocol.Type]bool{
	protocol.SessionCreated: true, protocol.SessionClosed: true, protocol.TurnEnded: true,
	protocol.TextStart: true, protocol.TextDelta: true, protocol.TextEnd: true, protocol.ReasoningStart: true,
	protocol.ReasoningDelta: true, protocol.ReasoningEnd: true, protocol.JoinedDeltas: true,
	protocol.ToolStarted: true, protocol.ToolInput: true, protocol.ToolOutput: true, protocol.ToolEnded: true,
	protocol.PlanStarted: true, protocol.PlanCompleted: true, protocol.PlanInvalid: true,
	protocol.PlanCancelled: true, protocol.PlanFailed: true, protocol.TaskStarted: true,
	protocol.TaskProgress: true, protocol.TaskCompleted: true, protocol.TaskFailed: true,
	protocol.TaskCancelled: true, protocol.TaskRestarted: true, protocol.AggregateStarted: true,
	protocol.AggregateCompleted: true, protocol.PipelineCompleted: true, protocol.ErrorRaised: true,
	protocol.RetryScheduled: true, protocol.RecoveryStarted: true, protocol.RecoverySucceeded: true,
	protocol.RecoveryFailed: true, protocol.StateRestored: true, protocol.Notice: true,
}

// isNative reports whether notices of an action carry the events of a type.
func isNative(action string) bool {
	row := protocol.EventTypeOf(protocol.Type(action))
	return row != nil && !row.Ephemeral && !encoded[row.Type]
}

// notice handles a notice: an answer of the server, a native event, or a text for users.
func (r *receiver) notice(s *session, f *frame) *session {
	action := f.meta.Str("action")
	if events := f.eventList(); events != nil {
		return r.receiveList(s, events)
	}
	switch {
	case action == wire.ActionReconnected:
		s.reconnected(f)
	case action == wire.ActionReplay:
		s.serverForgot = f.meta.Has("count") && !f.meta.Has("last_seq") && f.meta.Int("count") == 0
		r.finishReplay(s)
	case !f.namesTurns && r.acknowledged(s, f, action):
	case f.meta.Has("retry_delay_seconds") && f.meta.Has("attempt"):
		if !f.namesTurns { // else an error.retry follows
			f.retry()
		}
	case f.namesTurns && isNative(action) && f.meta.Has("data"):
		s.decoder.native(f, protocol.Type(action), f.meta["data"])
	default:
		d := protocol.NoticeData{
			Level: f.meta.Str("level"), Code: protocol.Code(clipID(f.meta.Str("code"))),
			Message: protocol.SplitText(f.text(), maxNoticeText)[0],
		}
		if d.Level != protocol.LevelWarning {
			d.Level = protocol.LevelInfo
		}
		f.add(protocol.Notice, d)
	}
	return s
}

// acknowledged handles the answer of a MyAgent server to a request about tasks and plans. It
// returns false if the notice is for the user: a refusal, or another notice.
func (r *receiver) acknowledged(s *session, f *frame, action string) bool {
	ok := f.meta.Str("ok") == "true"
	if event := "user." + action; event == wire.UserCancelTask || event == wire.UserRestartTask {
		if req := r.x.find("", string(f.Session), event); req != nil {
			var err *protocol.Error
			if !ok {
				err = protocol.Errorf(protocol.CodeNotFound, "%s", wire.Shorten(f.text()))
			}
			r.x.finish(req, json.RawMessage("{}"), err)
			return true
		}
	}
	if action == "replan" && f.meta.Str("mode") == "restart" && f.state.Turn == nil {
		s.startTurn(protocol.Message{MessageID: r.x.Options.ID("m"), Text: f.meta.Str("question")})
		return true
	}
	return ok
}

// native adds a native event of a notice.
func (dec *decoder) native(f *frame, t protocol.Type, data json.RawMessage) {
	if t != protocol.MessageUser {
		f.add(t, data)
		return
	}
	var d protocol.MessageUserData
	if json.Unmarshal(data, &d) != nil || f.turnID() == "" {
		f.addRaw()
		return
	}
	dec.forgetTurn()
	f.add(t, data)
	f.events = append(f.events, codec.Entry{
		Type: protocol.TurnStarted, Turn: f.turnID(), Time: f.at,
		Data: protocol.TurnStartedData{MessageID: d.MessageID},
	})
}

// reconnected resets a session that the server cannot resume from the last frame.
func (s *session) reconnected(f *frame) {
	if f.meta.Str("mode") != protocol.ModeSnapshot {
		s.log.ResumeReason = protocol.ResumeReplayed
		return
	}
	state := new(protocol.State)
	if !f.meta.Decode("state", state) {
		state = &protocol.State{Attributes: protocol.Attributes{Created: f.at}}
	}
	s.reset(state)
}

// sessionCreated finishes the request for a new session, unless a reply follows.
func (r *receiver) sessionCreated(s *session, f *frame) {
	if f.state.Created.IsZero() {
		f.add(protocol.SessionCreated, protocol.SessionCreatedData{
			Name: f.meta.Str("name"), Title: f.meta.Str("title"), Agent: clipID(f.meta.Str("agent_name")),
			CWD: f.meta.Str("cwd"),
		})
		s.recordFrame(f)
	}
	if req := r.x.find("", "", wire.UserCreateSession); req != nil && !r.x.capabilities[wire.CapReply] {
		r.sessions.enter(s)
		r.x.finish(req, protocol.MustEncode(wire.Meta{"session": s.log.Session}), nil)
	}
}

// stateExported finishes the request for the state.
func (r *receiver) stateExported(f *frame) {
	state := f.meta["signed_state"]
	if !f.meta.Has("signed_state") {
		state = f.content["signed_state"]
	}
	if wire.ParseObject(state) == nil {
		f.addRaw()
		return
	}
	if id := f.meta.Str("reply_to"); id != "" {
		if req := r.x.find(id, ""); req != nil {
			r.x.finish(req, state, nil)
		}
		return
	}
	if f.meta.Has("orig_seq") {
		return // a replay repeats it
	}
	for { // the newest state is an answer to every request
		req := r.x.find("", string(f.Session), wire.UserRequestState)
		if req == nil {
			return
		}
		r.x.finish(req, state, nil)
	}
}

// stateRestored finishes the request to restore. The session continues under a new id.
func (r *receiver) stateRestored(s *session, f *frame) *session {
	req := r.x.find(f.meta.Str("reply_to"), "", wire.UserReconnectState)
	if req == nil {
		d := protocol.StateRestoredData{Session: clipID(f.meta.Str("original_session_id"))}
		f.meta.Decode("position", &d.Position)
		f.meta.Decode("exported_at", &d.Exported)
		f.add(protocol.StateRestored, d)
		return s
	}
	s = r.replace(s, req.session)
	r.sessions.enter(s)
	s.decoder.readPendingSteps(f)
	if req.session == nil {
		s.decoder.replaying = true
		r.x.Record(s.log, codec.Entry{
			Type: protocol.SessionCreated, Time: f.at,
			Data: protocol.SessionCreatedData{Agent: clipID(f.meta.Str("agent_name"))},
		})
		f.add(protocol.StateRestored, protocol.StateRestoredData{
			Session: clipID(f.meta.Str("original_session_id")), Exported: f.at.UTC(),
		})
		s.recordFrame(f)
	}
	r.x.finish(req, protocol.MustEncode(wire.Meta{"session": s.serverID}), nil)
	return s
}

// replace continues the previous session, if known, under the id of the session s that replaces it.
func (r *receiver) replace(s, previous *session) *session {
	if previous == nil || previous == s {
		return s
	}
	r.sessions.remove(s)
	previous.serverID = s.serverID
	return previous
}
