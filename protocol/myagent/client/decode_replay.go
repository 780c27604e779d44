package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// eventList returns the events of a notice that replays them in a list, as the protocol's document
// shows, or nil.
func (h *frameHandler) eventList() (events []json.RawMessage) {
	for _, raw := range []json.RawMessage{h.Content, h.content["events"], h.meta["events"]} {
		if json.Unmarshal(raw, &events) != nil || len(events) == 0 {
			continue
		}
		if m, ok := wire.DecodeMessage(events[0]); ok && m.Event != "" {
			return events
		}
	}
	return nil
}

// handleReplayList handles the events that a session missed, listed in one notice: the document's
// answer to a reconnect. Events received before are skipped, old confirmations are not requested
// again, and the current turn goes on.
func (h *frameHandler) handleReplayList(events []json.RawMessage) {
	c := h.client
	req := c.findRequest("", "", wire.UserReconnectState, wire.UserReconnect)
	// the previous session, under another id
	if req != nil && req.session != nil && req.session != h.session {
		c.removeSession(h.session)
		req.session.serverID, h.session = h.session.serverID, req.session
	}
	s := h.session
	s.replayingList = true
	if req != nil && req.event == wire.UserReconnectState { // no agent.state_restored preceded it
		c.finishRequest(req, protocol.MustEncode(wire.Meta{"session": s.serverID}), nil)
	} else if !s.replaying {
		s.restoredFrom, s.restoredFromSeq, s.replaying = s.lastEventID, s.lastSeq, true
	}
	for _, raw := range events {
		h.handleReplayed(raw)
	}
	s.log.ResumeReason = protocol.ResumeReplayed
	if req != nil && req.event == wire.UserReconnect {
		s.connected, c.current = true, s
		c.finishRequest(req, protocol.MustEncode(wire.Meta{"session": s.serverID}), nil)
	}
	h.finishReplay()
	s.replayingList = false
}

// handleReplayed handles one event of the list.
func (h *frameHandler) handleReplayed(raw json.RawMessage) {
	m, ok := wire.DecodeMessage(raw)
	if !ok || m.Event == "" {
		h.client.recordRaw(h.session, wire.SystemNotice, raw)
		return
	}
	in := &frameHandler{
		Message: &m, client: h.client, session: h.session, event: unprefixed(string(m.Event)), data: raw,
		meta: wire.ParseObject(m.Metadata), content: wire.ParseObject(m.Content),
		at: h.client.clock.read(string(m.Timestamp), h.client.Now, true),
	}
	in.namesTurns = in.meta.Has("turn_id") || h.client.capabilities[wire.CapTurns]
	if !in.meta.Has("orig_seq") && m.Seq > 0 {
		if in.meta == nil {
			in.meta = wire.Fields{}
		}
		id := string(m.ID)
		if id == "" {
			id = wire.EventID(connectionOf(h.session.restoredFrom), uint64(m.Seq))
		}
		in.meta["orig_seq"], in.meta["orig_event_id"] = protocol.MustEncode(uint64(m.Seq)), protocol.MustEncode(id)
	}
	switch action := in.meta.Str("action"); {
	case in.event == wire.SystemConnected, in.event == wire.SystemHeartbeat:
		// Of the previous connection.
	case in.event == wire.SystemNotice && (action == wire.ActionReplay || action == wire.ActionReconnected || in.eventList() != nil):
		in.recordRaw() // also of the previous connection
	default:
		in.handle()
	}
}
