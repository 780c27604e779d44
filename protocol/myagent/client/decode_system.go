package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// noticeTypes lists the native events that arrive as notices, because the protocol has no event for
// them.
var noticeTypes = map[string]bool{
	string(protocol.SessionUpdated): true, string(protocol.MessageUser): true, string(protocol.TurnStarted): true,
	string(protocol.ApprovalRequested): true, string(protocol.ApprovalExplained): true,
	string(protocol.ApprovalResolved): true,
	string(protocol.QueueAdded):       true,
	string(protocol.QueueScheduled):   true, string(protocol.QueueUpdated): true, string(protocol.QueueRemoved): true,
	string(protocol.QueueMoved): true, string(protocol.QueueHeld): true, string(protocol.QueueReleased): true,
	string(protocol.PlanUpdated): true, string(protocol.ContextUpdated): true, string(protocol.ContextCompacted): true,
	string(protocol.UsageUpdated): true, string(protocol.AgentOptions): true, string(protocol.StateExported): true,
	string(protocol.Raw): true, string(protocol.TextContent): true,
}

func (h *frameHandler) notice() {
	action := h.meta.Str("action")
	if events := h.eventList(); events != nil {
		h.handleReplayList(events)
		return
	}
	switch {
	case action == wire.ActionReconnected:
		h.reconnected()
	case action == wire.ActionReplay:
		h.session.serverForgot = h.meta.Has("count") && !h.meta.Has("last_seq") && h.meta.Int("count") == 0
		h.finishReplay()
	case !h.namesTurns && h.acknowledged(action):
	case h.meta.Has("retry_delay_seconds") && h.meta.Has("attempt"):
		if !h.namesTurns { // else an error.retry follows
			h.retry()
		}
	case h.namesTurns && noticeTypes[action] && h.meta.Has("data"):
		h.recordNative(protocol.Type(action), h.meta["data"])
	default:
		d := protocol.NoticeData{
			Level: h.meta.Str("level"), Code: protocol.Code(clipID(h.meta.Str("code"))),
			Message: protocol.SplitText(h.text(), maxNoticeText)[0],
		}
		if d.Level != protocol.LevelWarning {
			d.Level = protocol.LevelInfo
		}
		h.record(protocol.Notice, d)
	}
}

// acknowledged handles the answer of a MyAgent server to a request about tasks and plans. It
// returns false if the notice is for the user: a refusal, or another notice.
func (h *frameHandler) acknowledged(action string) bool {
	ok := h.meta.Str("ok") == "true"
	if event := "user." + action; event == wire.UserCancelTask || event == wire.UserRestartTask {
		if req := h.client.findRequest("", string(h.Session), event); req != nil {
			var err *protocol.Error
			if !ok {
				err = protocol.Errorf(protocol.CodeNotFound, "%s", wire.Shorten(h.text()))
			}
			h.client.finishRequest(req, json.RawMessage("{}"), err)
			return true
		}
	}
	if action == "replan" && h.meta.Str("mode") == "restart" && h.session.log.State.Turn == nil {
		h.client.startTurn(h.session, protocol.Message{
			MessageID: h.client.Options.ID("m"), Text: h.meta.Str("question"),
		})
		return true
	}
	return ok
}

// recordNative records a native event of a notice.
func (h *frameHandler) recordNative(t protocol.Type, data json.RawMessage) {
	if t != protocol.MessageUser {
		h.record(t, data)
		return
	}
	var d protocol.MessageUserData
	if json.Unmarshal(data, &d) != nil || h.turnID() == "" {
		h.recordRaw()
		return
	}
	h.session.forgetTurn()
	h.record(t, data)
	h.client.record(h.session, codec.Entry{
		Type: protocol.TurnStarted, Turn: h.turnID(), Time: h.at,
		Data: protocol.TurnStartedData{MessageID: d.MessageID},
	})
}

// reconnected resets a session that the server cannot resume from the last frame.
func (h *frameHandler) reconnected() {
	s := h.session
	if h.meta.Str("mode") != protocol.ModeSnapshot {
		s.log.ResumeReason = protocol.ResumeReplayed
		return
	}
	state := new(protocol.State)
	if !h.meta.Decode("state", state) {
		state = &protocol.State{Attributes: protocol.Attributes{Created: h.at}}
	}
	s.reset(h.client, state)
}

// finishReplay ends a replay.
func (h *frameHandler) finishReplay() {
	s := h.session
	if req := h.client.findRequest("", s.serverID, wire.ActionReplay); req != nil {
		h.client.finishRequest(req, nil, nil)
		return
	}
	if s.replaying {
		h.client.finishReplay(s, turnLeftBehind)
	}
}

func (h *frameHandler) sessionCreated() {
	s, c := h.session, h.client
	if s.log.State.Created.IsZero() {
		h.record(protocol.SessionCreated, protocol.SessionCreatedData{
			Name: h.meta.Str("name"), Title: h.meta.Str("title"), Agent: clipID(h.meta.Str("agent_name")),
			CWD: h.meta.Str("cwd"),
		})
	}
	if c.capabilities[wire.CapReply] {
		return // a reply follows
	}
	if req := c.findRequest("", "", wire.UserCreateSession); req != nil {
		s.connected = true
		c.current = s
		c.finishRequest(req, protocol.MustEncode(wire.Meta{"session": s.log.Session}), nil)
	}
}

func (h *frameHandler) sessionEnd() {
	if h.session.log.State.Turn != nil {
		h.client.endTurn(h.session, h.at, protocol.TurnEndedData{
			Reason: protocol.ReasonInterrupted, Message: "the session ended",
		})
	}
	h.record(protocol.SessionClosed, protocol.SessionClosedData{Reason: h.meta.Str("reason")})
}

// stateExported finishes the request for the state.
func (h *frameHandler) stateExported() {
	state := h.meta["signed_state"]
	if !h.meta.Has("signed_state") {
		state = h.content["signed_state"]
	}
	if wire.ParseObject(state) == nil {
		h.recordRaw()
		return
	}
	if id := h.meta.Str("reply_to"); id != "" {
		if req := h.client.findRequest(id, ""); req != nil {
			h.client.finishRequest(req, state, nil)
		}
		return
	}
	if h.meta.Has("orig_seq") {
		return // a replay repeats it
	}
	for { // the newest state is an answer to every request
		req := h.client.findRequest("", string(h.Session), wire.UserRequestState)
		if req == nil {
			return
		}
		h.client.finishRequest(req, state, nil)
	}
}

// stateRestored finishes the request to restore. The session continues under a new id.
func (h *frameHandler) stateRestored() {
	c := h.client
	req := c.findRequest(h.meta.Str("reply_to"), "", wire.UserReconnectState)
	if req == nil {
		d := protocol.StateRestoredData{Session: clipID(h.meta.Str("original_session_id"))}
		h.meta.Decode("position", &d.Position)
		h.meta.Decode("exported_at", &d.Exported)
		h.record(protocol.StateRestored, d)
		return
	}
	// the previous session, not the one that the new id looks like
	if known := req.session; known != nil && known != h.session {
		c.removeSession(h.session)
		known.serverID, h.session = h.session.serverID, known
	}
	h.session.connected = true
	c.current = h.session
	h.readPendingSteps()
	if req.session == nil {
		h.session.replaying = true
		c.Record(h.session.log, codec.Entry{
			Type: protocol.SessionCreated, Time: h.at,
			Data: protocol.SessionCreatedData{Agent: clipID(h.meta.Str("agent_name"))},
		})
		h.record(protocol.StateRestored, protocol.StateRestoredData{
			Session: clipID(h.meta.Str("original_session_id")), Exported: h.at.UTC(),
		})
	}
	c.finishRequest(req, protocol.MustEncode(wire.Meta{"session": h.session.serverID}), nil)
}

// readPendingSteps notes the steps that still await an answer at the server.
func (h *frameHandler) readPendingSteps() {
	var list []json.RawMessage
	if !h.meta.Decode("pending_confirmations", &list) {
		h.content.Decode("pending_confirmations", &list)
	}
	h.session.pendingSteps = map[string]bool{}
	for _, raw := range list[:min(len(list), maxApprovals)] {
		step := wire.Scalar(raw)
		if o := wire.ParseObject(raw); o != nil {
			step = o.Str("step_id")
		}
		h.session.pendingSteps[step] = true
	}
}

// removeSession removes a session that turned out to be another one.
func (c *Conn) removeSession(s *session) {
	for i, known := range c.resume.sessions {
		if known == s {
			c.resume.sessions = append(c.resume.sessions[:i:i], c.resume.sessions[i+1:]...)
			return
		}
	}
}
