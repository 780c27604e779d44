package myagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
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
	action := h.meta.str("action")
	if events := h.eventList(); events != nil {
		h.handleReplayList(events)
		return
	}
	switch {
	case action == actionReconnected:
		h.reconnected()
	case action == actionReplay:
		h.session.serverForgot = h.meta.has("count") && !h.meta.has("last_seq") && h.meta.int("count") == 0
		h.finishReplay()
	case !h.namesTurns && h.acknowledged(action):
	case h.meta.has("retry_delay_seconds") && h.meta.has("attempt"):
		if !h.namesTurns { // else an error.retry follows
			h.retry()
		}
	case h.namesTurns && noticeTypes[action] && h.meta.has("data"):
		h.recordNative(protocol.Type(action), h.meta["data"])
	default:
		d := protocol.NoticeData{
			Level: h.meta.str("level"), Code: protocol.Code(clipID(h.meta.str("code"))),
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
	ok := h.meta.str("ok") == "true"
	if event := "user." + action; event == userCancelTask || event == userRestartTask {
		if req := h.client.findRequest("", string(h.Session), event); req != nil {
			var err *protocol.Error
			if !ok {
				err = protocol.Errorf(protocol.CodeNotFound, "%s", shorten(h.text()))
			}
			h.client.finishRequest(req, json.RawMessage("{}"), err)
			return true
		}
	}
	if action == "replan" && h.meta.str("mode") == "restart" && h.session.log.State.Turn == nil {
		h.client.startTurn(h.session, protocol.Message{
			MessageID: h.client.Options.ID("m"), Text: h.meta.str("question"),
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
	if h.meta.str("mode") != protocol.ModeSnapshot {
		s.log.ResumeReason = protocol.ResumeReplayed
		return
	}
	state := new(protocol.State)
	if !h.meta.decode("state", state) {
		state = &protocol.State{Attributes: protocol.Attributes{Created: h.at}}
	}
	s.reset(h.client, state)
}

// finishReplay ends a replay.
func (h *frameHandler) finishReplay() {
	s := h.session
	if req := h.client.findRequest("", s.serverID, actionReplay); req != nil {
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
			Name: h.meta.str("name"), Title: h.meta.str("title"), Agent: clipID(h.meta.str("agent_name")),
			CWD: h.meta.str("cwd"),
		})
	}
	if c.capabilities[capReply] {
		return // a reply follows
	}
	if req := c.findRequest("", "", userCreateSession); req != nil {
		s.connected = true
		c.current = s
		c.finishRequest(req, protocol.MustEncode(meta{"session": s.log.Session}), nil)
	}
}

func (h *frameHandler) sessionEnd() {
	if h.session.log.State.Turn != nil {
		h.client.endTurn(h.session, h.at, protocol.TurnEndedData{
			Reason: protocol.ReasonInterrupted, Message: "the session ended",
		})
	}
	h.record(protocol.SessionClosed, protocol.SessionClosedData{Reason: h.meta.str("reason")})
}

// stateExported finishes the request for the state.
func (h *frameHandler) stateExported() {
	state := h.meta["signed_state"]
	if !h.meta.has("signed_state") {
		state = h.content["signed_state"]
	}
	if parseObject(state) == nil {
		h.recordRaw()
		return
	}
	if id := h.meta.str("reply_to"); id != "" {
		if req := h.client.findRequest(id, ""); req != nil {
			h.client.finishRequest(req, state, nil)
		}
		return
	}
	if h.meta.has("orig_seq") {
		return // a replay repeats it
	}
	for { // the newest state is an answer to every request
		req := h.client.findRequest("", string(h.Session), userRequestState)
		if req == nil {
			return
		}
		h.client.finishRequest(req, state, nil)
	}
}

// stateRestored finishes the request to restore. The session continues under a new id.
func (h *frameHandler) stateRestored() {
	c := h.client
	req := c.findRequest(h.meta.str("reply_to"), "", userReconnectState)
	if req == nil {
		d := protocol.StateRestoredData{Session: clipID(h.meta.str("original_session_id"))}
		h.meta.decode("position", &d.Position)
		h.meta.decode("exported_at", &d.Exported)
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
			Data: protocol.SessionCreatedData{Agent: clipID(h.meta.str("agent_name"))},
		})
		h.record(protocol.StateRestored, protocol.StateRestoredData{
			Session: clipID(h.meta.str("original_session_id")), Exported: h.at.UTC(),
		})
	}
	c.finishRequest(req, protocol.MustEncode(meta{"session": h.session.serverID}), nil)
}

// readPendingSteps notes the steps that still await an answer at the server.
func (h *frameHandler) readPendingSteps() {
	var list []json.RawMessage
	if !h.meta.decode("pending_confirmations", &list) {
		h.content.decode("pending_confirmations", &list)
	}
	h.session.pendingSteps = map[string]bool{}
	for _, raw := range list[:min(len(list), maxApprovals)] {
		step := scalarText(raw)
		if o := parseObject(raw); o != nil {
			step = o.str("step_id")
		}
		h.session.pendingSteps[step] = true
	}
}

// removeSession removes a session that turned out to be another one.
func (c *client) removeSession(s *session) {
	for i, known := range c.resume.sessions {
		if known == s {
			c.resume.sessions = append(c.resume.sessions[:i:i], c.resume.sessions[i+1:]...)
			return
		}
	}
}
