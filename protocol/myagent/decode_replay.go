package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// listed returns the events that a notice holds, where it is the replay of the protocol's document; else nil.
func (h *frameHandler) eventList() (events []json.RawMessage) {
	for _, raw := range []json.RawMessage{h.Content, h.content["events"], h.meta["events"]} {
		if json.Unmarshal(raw, &events) != nil || len(events) == 0 {
			continue
		}
		if m, ok := decodeMessage(events[0]); ok && m.Event != "" {
			return events
		}
	}
	return nil
}

// replayed takes the events that a session missed, all in one notice: the document's answer to a reconnect. What was heard before is
// passed over, old confirmations are not asked again, and the turn under way goes on.
func (h *frameHandler) handleReplayList(events []json.RawMessage) {
	c := h.client
	a := c.findRequest("", "", userReconnectState, userReconnect)
	if a != nil && a.session != nil && a.session != h.session { // the session of before, under another id
		c.removeSession(h.session)
		a.session.serverID, h.session = h.session.serverID, a.session
	}
	s := h.session
	s.replayingList = true
	if a != nil && a.event == userReconnectState { // without agent.state_restored
		c.finishRequest(a, protocol.MustEncode(meta{"session": s.serverID}), nil)
	} else if !s.replaying {
		s.restoredFrom, s.restoredFromSeq, s.replaying = s.lastEventID, s.lastSeq, true
	}
	for _, raw := range events {
		h.handleReplayed(raw)
	}
	s.log.Resumes = protocol.ResumeReplayed
	if a != nil && a.event == userReconnect {
		s.connected, c.current = true, s
		c.finishRequest(a, protocol.MustEncode(meta{"session": s.serverID}), nil)
	}
	h.finishReplay()
	s.replayingList = false
}

// one takes one of the events.
func (h *frameHandler) handleReplayed(raw json.RawMessage) {
	m, ok := decodeMessage(raw)
	if !ok || m.Event == "" {
		h.session.recordRaw(h.client, systemNotice, raw)
		return
	}
	in := &frameHandler{message: &m, client: h.client, session: h.session, event: unprefixed(string(m.Event)), data: raw, meta: parseObject(m.Metadata), content: parseObject(m.Content), at: m.sentAt(h.client.now)}
	in.namesTurns = in.meta.has("turn_id") || h.client.capabilities[capTurns]
	if !in.meta.has("orig_seq") && m.Seq > 0 {
		if in.meta == nil {
			in.meta = fields{}
		}
		id := string(m.ID)
		if id == "" {
			id = eventID(connectionOf(h.session.restoredFrom), uint64(m.Seq))
		}
		in.meta["orig_seq"], in.meta["orig_event_id"] = protocol.MustEncode(uint64(m.Seq)), protocol.MustEncode(id)
	}
	switch action := in.meta.str("action"); {
	case in.event == systemConnected, in.event == systemHeartbeat: // of the connection before
	case in.event == systemNotice && (action == actionReplay || action == actionReconnected || in.eventList() != nil): // likewise
		in.recordRaw()
	default:
		in.handle()
	}
}
