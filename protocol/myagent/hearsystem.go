package myagent

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// notable are the native events that come as a notice: MyAgent has no word for them.
var notable = map[string]bool{
	string(protocol.SessionUpdated): true, string(protocol.MessageUser): true, string(protocol.TurnStarted): true,
	string(protocol.ApprovalRequested): true, string(protocol.ApprovalExplained): true, string(protocol.ApprovalResolved): true,
	string(protocol.QueueAdded): true, string(protocol.QueueUpdated): true, string(protocol.QueueRemoved): true,
	string(protocol.QueueMoved): true, string(protocol.QueueHeld): true, string(protocol.QueueReleased): true,
	string(protocol.PlanUpdated): true, string(protocol.ContextUpdated): true, string(protocol.ContextCompacted): true,
	string(protocol.UsageUpdated): true, string(protocol.AgentOptions): true, string(protocol.StateExported): true, string(protocol.Raw): true,
}

func (h *heard) notice() {
	action := h.meta.str("action")
	if events := h.listed(); events != nil {
		h.replayed(events)
		return
	}
	switch {
	case action == actionReconnected:
		h.reconnected()
	case action == actionReplay:
		h.caughtUp()
	case h.meta.has("retry_delay_seconds") && h.meta.has("attempt"):
		h.retry()
	case h.told && notable[action] && h.meta.has("data"):
		h.noted(protocol.Type(action), h.meta["data"])
	default:
		d := protocol.NoticeData{Level: h.meta.str("level"), Code: protocol.Code(clip(h.meta.str("code"))), Message: protocol.SplitText(h.text(), maxWords)[0]}
		if d.Level != protocol.LevelWarning {
			d.Level = protocol.LevelInfo
		}
		h.add(protocol.Notice, d)
	}
}

// noted records an event that came as it is.
func (h *heard) noted(t protocol.Type, data json.RawMessage) {
	if t != protocol.MessageUser {
		h.add(t, data)
		return
	}
	var d protocol.MessageUserData
	if json.Unmarshal(data, &d) != nil || h.turn() == "" {
		h.raw()
		return
	}
	h.s.forgetTurn()
	h.add(t, data)
	h.s.add(h.c, codec.Entry{Type: protocol.TurnStarted, Turn: h.turn(), Time: h.at, Data: protocol.TurnStartedData{MessageID: d.MessageID}})
}

// reconnected begins a session anew where the server cannot go on from the last frame.
func (h *heard) reconnected() {
	s := h.s
	if h.meta.str("mode") != protocol.ModeSnapshot {
		s.log.ResumeReason = protocol.ResumeReplayed
		return
	}
	state := new(protocol.State)
	if !h.meta.into("state", state) {
		state = &protocol.State{Created: h.at}
	}
	s.renew(h.c, state)
}

// caughtUp ends a replay.
func (h *heard) caughtUp() {
	s := h.s
	if a := h.c.waiting("", s.foreign, actionReplay); a != nil {
		h.c.settle(a, nil, nil)
		return
	}
	if s.replays {
		h.c.replayed(s, ofBefore)
	}
}

func (h *heard) sessionCreated() {
	s, c := h.s, h.c
	if s.log.State.Created.IsZero() {
		h.add(protocol.SessionCreated, protocol.SessionCreatedData{
			Name: h.meta.str("name"), Title: h.meta.str("title"), Agent: clip(h.meta.str("agent_name")), CWD: h.meta.str("cwd"),
		})
	}
	if c.can[canReply] {
		return // it answers, too
	}
	if a := c.waiting("", "", userCreateSession); a != nil {
		s.here = true
		c.current = s
		c.settle(a, protocol.MustEncode(meta{"session": s.log.Session}), nil)
	}
}

func (h *heard) sessionEnd() {
	if h.s.log.State.Turn != nil {
		h.c.endTurn(h.s, h.at, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, Message: "the session ended"})
	}
	h.add(protocol.SessionClosed, protocol.SessionClosedData{Reason: h.meta.str("reason")})
}

// stateExported answers who asked for the state.
func (h *heard) stateExported() {
	state := h.meta["signed_state"]
	if !h.meta.has("signed_state") {
		state = h.obj["signed_state"]
	}
	a := h.c.waiting(h.meta.str("reply_to"), string(h.Session), userRequestState)
	if a == nil || object(state) == nil {
		h.raw()
		return
	}
	h.c.settle(a, state, nil)
}

// stateRestored answers who asked for it: the session goes on under a new id.
func (h *heard) stateRestored() {
	c := h.c
	a := c.waiting(h.meta.str("reply_to"), "", userReconnectState)
	if a == nil {
		d := protocol.StateRestoredData{Session: clip(h.meta.str("original_session_id"))}
		h.meta.into("position", &d.Position)
		h.meta.into("exported_at", &d.Exported)
		h.add(protocol.StateRestored, d)
		return
	}
	if known := a.session; known != nil && known != h.s { // the session of before, not the one that its new id seems to be
		c.forget(h.s)
		known.foreign, h.s = h.s.foreign, known
	}
	h.s.here = true
	c.current = h.s
	h.pending()
	if a.session == nil {
		h.s.replays = true
		h.s.log.Add(c.out, c.now, codec.Entry{Type: protocol.SessionCreated, Time: h.at, Data: protocol.SessionCreatedData{Agent: clip(h.meta.str("agent_name"))}})
		h.add(protocol.StateRestored, protocol.StateRestoredData{Session: clip(h.meta.str("original_session_id")), Exported: h.at.UTC()})
	}
	c.settle(a, protocol.MustEncode(meta{"session": h.s.foreign}), nil)
}

// pending notes the steps that the server says wait for an answer still.
func (h *heard) pending() {
	var list []json.RawMessage
	if !h.meta.into("pending_confirmations", &list) {
		h.obj.into("pending_confirmations", &list)
	}
	h.s.waits = map[string]bool{}
	for _, raw := range list[:min(len(list), maxAsked)] {
		step := plain(raw)
		if o := object(raw); o != nil {
			step = o.str("step_id")
		}
		h.s.waits[step] = true
	}
}

// forget drops a session that turned out to be another one.
func (c *client) forget(s *session) {
	for i, known := range c.memory.sessions {
		if known == s {
			c.memory.sessions = append(c.memory.sessions[:i:i], c.memory.sessions[i+1:]...)
			return
		}
	}
}
