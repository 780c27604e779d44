package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
)

// eventList returns the events of a notice that replays them in a list, as the protocol's document
// shows, or nil.
func (f *frame) eventList() (events []json.RawMessage) {
	for _, raw := range []json.RawMessage{f.Content, f.content["events"], f.meta["events"]} {
		if json.Unmarshal(raw, &events) != nil || len(events) == 0 {
			continue
		}
		if m, ok := wire.DecodeMessage(events[0]); ok && m.Event != "" {
			return events
		}
	}
	return nil
}

// receiveList handles the events that a session missed, listed in one notice: the document's answer
// to a reconnect. Events received before are skipped, old confirmations are not requested again, and
// the current turn continues. It returns the session, which may be the previous one.
func (r *receiver) receiveList(s *session, events []json.RawMessage) *session {
	req := r.x.find("", "", wire.UserReconnectState, wire.UserReconnect)
	if req != nil {
		s = r.replace(s, req.session)
	}
	s.decoder.replayingList = true
	if req != nil && req.event == wire.UserReconnectState { // no agent.state_restored preceded it
		r.x.finish(req, protocol.MustEncode(wire.Meta{"session": s.serverID}), nil)
	} else if !s.decoder.replaying {
		s.restoredFrom, s.restoredFromSeq, s.decoder.replaying = s.lastEventID, s.lastSeq, true
	}
	for _, raw := range events {
		r.receiveReplayed(s, raw)
	}
	s.log.ResumeReason = protocol.ResumeReplayed
	if req != nil && req.event == wire.UserReconnect {
		r.sessions.enter(s)
		r.x.finish(req, protocol.MustEncode(wire.Meta{"session": s.serverID}), nil)
	}
	r.finishReplay(s)
	s.decoder.replayingList = false
	return s
}

// receiveReplayed handles one event of the list.
func (r *receiver) receiveReplayed(s *session, raw json.RawMessage) {
	m, ok := wire.DecodeMessage(raw)
	if !ok || m.Event == "" {
		s.recordRaw(wire.SystemNotice, raw)
		return
	}
	f := r.newFrame(&m, raw)
	f.at = r.clock.read(string(m.Timestamp), r.x.Now, true)
	if !f.meta.Has("orig_seq") && m.Seq > 0 {
		if f.meta == nil {
			f.meta = wire.Fields{}
		}
		id := string(m.ID)
		if id == "" {
			id = wire.EventID(connectionOf(s.restoredFrom), uint64(m.Seq))
		}
		f.meta["orig_seq"], f.meta["orig_event_id"] = protocol.MustEncode(uint64(m.Seq)), protocol.MustEncode(id)
	}
	switch action := f.meta.Str("action"); {
	case f.event == wire.SystemConnected, f.event == wire.SystemHeartbeat:
		// Of the previous connection.
	case f.event == wire.SystemNotice && (action == wire.ActionReplay || action == wire.ActionReconnected || f.eventList() != nil):
		s.recordRaw(f.event, raw) // also of the previous connection
	default:
		r.handle(s, f)
	}
}

// finishReplay ends a replay.
func (r *receiver) finishReplay(s *session) {
	if req := r.x.find("", s.serverID, wire.ActionReplay); req != nil {
		r.x.finish(req, nil, nil)
		return
	}
	if s.decoder.replaying {
		s.finishReplay(turnLeftBehind)
	}
}
