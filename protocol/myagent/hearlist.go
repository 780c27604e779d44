package myagent

import (
	"encoding/json"

	"agentctl/protocol"
)

// listed returns the events that a notice holds, where it is the replay of the protocol's document; else nil.
func (h *heard) listed() (events []json.RawMessage) {
	for _, raw := range []json.RawMessage{h.Content, h.obj["events"], h.meta["events"]} {
		if json.Unmarshal(raw, &events) != nil || len(events) == 0 {
			continue
		}
		if m, ok := decode(events[0]); ok && m.Event != "" {
			return events
		}
	}
	return nil
}

// replayed takes the events that a session missed, all in one notice: the document's answer to a reconnect. What was heard before is
// passed over, old confirmations are not asked again, and the turn under way goes on.
func (h *heard) replayed(events []json.RawMessage) {
	c := h.c
	a := c.waiting("", "", userReconnectState, userReconnect)
	if a != nil && a.session != nil && a.session != h.s { // the session of before, under another id
		c.forget(h.s)
		a.session.foreign, h.s = h.s.foreign, a.session
	}
	s := h.s
	s.lists = true
	if a != nil && a.event == userReconnectState { // without agent.state_restored
		c.settle(a, protocol.MustEncode(meta{"session": s.foreign}), nil)
	} else if !s.replays {
		s.had, s.hadSeq, s.replays = s.last, s.lastSeq, true
	}
	for _, raw := range events {
		h.one(raw)
	}
	s.log.ResumeReason = protocol.ResumeReplayed
	if a != nil && a.event == userReconnect {
		s.here, c.current = true, s
		c.settle(a, protocol.MustEncode(meta{"session": s.foreign}), nil)
	}
	h.caughtUp()
	s.lists = false
}

// one takes one of the events.
func (h *heard) one(raw json.RawMessage) {
	m, ok := decode(raw)
	if !ok || m.Event == "" {
		h.s.raw(h.c, systemNotice, raw)
		return
	}
	in := &heard{message: &m, c: h.c, s: h.s, event: unprefixed(string(m.Event)), data: raw, meta: object(m.Metadata), obj: object(m.Content), at: m.when(h.c.now)}
	in.told = in.meta.has("turn_id") || h.c.can[canTurns]
	if !in.meta.has("orig_seq") && m.Seq > 0 {
		if in.meta == nil {
			in.meta = fields{}
		}
		id := string(m.ID)
		if id == "" {
			id = eventID(connectionOf(h.s.had), uint64(m.Seq))
		}
		in.meta["orig_seq"], in.meta["orig_event_id"] = protocol.MustEncode(uint64(m.Seq)), protocol.MustEncode(id)
	}
	switch action := in.meta.str("action"); {
	case in.event == systemConnected, in.event == systemHeartbeat: // of the connection before
	case in.event == systemNotice && (action == actionReplay || action == actionReconnected || in.listed() != nil): // likewise
		in.raw()
	default:
		in.take()
	}
}
