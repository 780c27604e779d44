package client

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// Bounds of the client's memory.
const (
	maxSessions  = 32
	maxNames     = 16  // of a session
	maxID        = 256 // bytes of a foreign id
	maxPending   = 256 // queued messages, holds, rules, open parts and tools of a session
	maxApprovals = 64  // pending approvals of a session, and explanations of one
)

// A session is a session of the server over any number of connections.
type session struct {
	x               *exchange // of the connection in use
	log             *codec.Log
	serverID        string   // its current id at the server
	names           []string // the client's names for it
	connected       bool     // on this connection
	lastEventID     string   // event_id of the last frame
	lastSeq         uint64   // and its seq
	restoredFrom    string   // event_id of the last frame before a restore
	restoredFromSeq uint64   // and its seq
	serverForgot    bool     // the frames that a restore would replay
	signedState     json.RawMessage
	publishedSeq    uint64 // of the last summary sent to a watching client
	serverStart     uint64 // the server's seq at the start of the log; 0: the log is complete
	logStart        uint64 // and the log's own seq there

	decoder decoder
}

// use makes a connection the one in use. The session is not attached to it yet.
func (s *session) use(x *exchange) {
	s.x, s.connected, s.decoder.endedSeq, s.decoder.pieceSeq = x, false, 0, 0
	s.log.Detach()
}

// received notes a frame that was handled.
func (s *session) received(m *wire.Message) {
	seq := uint64(m.Seq)
	if seq == 0 || seq <= s.lastSeq && connectionOf(s.lastEventID) == m.ConnectionID() {
		return
	}
	s.lastSeq = seq
	if s.lastEventID = string(m.ID); s.lastEventID == "" {
		s.lastEventID = wire.EventID(m.ConnectionID(), seq)
	}
}

// alreadyReceived reports whether an earlier connection received a replayed frame.
func (s *session) alreadyReceived(f *frame) bool {
	if !s.decoder.replaying {
		return false
	}
	connection, seq := wire.ParseEventID(s.restoredFrom)
	if connection == "" { // the server does not name connections
		seq = s.restoredFromSeq
	}
	orig := uint64(f.meta.Int("orig_seq"))
	return orig > 0 && orig <= seq && connectionOf(f.meta.Str("orig_event_id")) == connection
}

func connectionOf(id string) string {
	connection, _ := wire.ParseEventID(id)
	return connection
}

// reset restarts the log from a state of the server. Finished turns stay in history. A turn that was
// running joins them if a turn ended since; otherwise the server sends it again from its start.
func (s *session) reset(state *protocol.State) {
	if was := s.log.State; was.Turn != nil && state.Turns > was.Turns {
		d := protocol.TurnEndedData{
			Reason: protocol.ReasonError, Message: "connection lost: the rest of the turn is unknown",
		}
		if last := state.Last; last != nil && last.Turn == was.Turn.Turn {
			d.Reason, d.Code = last.Reason, last.Code
		}
		s.record(codec.Entry{Type: protocol.TurnEnded, Turn: was.Turn.Turn, Data: d})
	}
	s.renew()
	if s.x.capabilities[wire.CapHistory] {
		s.log.DropHistory()
	}
	s.serverStart = state.Seq
	state.Seq = max(state.Seq, s.log.State.Seq+1) // after the history; no client has this seq
	s.logStart = state.Seq
	s.log.StartFrom(state)
}

// renew continues the log with another epoch.
func (s *session) renew() {
	s.log.Renew(s.x.NextEpoch())
	s.decoder = decoder{parts: s.decoder.parts}
}

// addName remembers a name that the client uses for the session.
func (s *session) addName(name string) {
	if name == "" || name == s.log.Session || slices.Contains(s.names, name) {
		return
	}
	if len(s.names) == maxNames {
		s.names = slices.Delete(s.names, 0, 1)
	}
	s.names = append(s.names, name)
}

// record records events. An event that would exceed a bound of the state becomes a raw event without
// content.
func (s *session) record(events ...codec.Entry) {
	for _, e := range events {
		limit := maxPending
		if e.Type == protocol.ApprovalRequested {
			limit = maxApprovals
		}
		if s.log.Full(e.Type, limit) {
			e.Type, e.Data = protocol.Raw, protocol.RawData{Source: wire.Name, Method: string(e.Type)}
		}
		s.x.Record(s.log, e)
	}
}

// recordRaw records a message without a native equivalent.
func (s *session) recordRaw(event string, data []byte) {
	s.x.RecordRaw(s.log, s.log.Turn(), event, data)
}

// recordFrame records the events of a frame.
func (s *session) recordFrame(f *frame) {
	s.record(f.events...)
	f.events = nil
}

// clearPending removes the approvals, queue and holds that the server lost. The server announces
// the ones that it restored.
func (s *session) clearPending() {
	st := s.log.State
	for _, a := range slices.Clone(st.Approvals) {
		s.record(codec.Entry{
			Type: protocol.ApprovalResolved, Turn: a.Turn,
			Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled},
		})
	}
	s.clearQueue()
	for _, h := range slices.Clone(st.Holds) {
		s.record(codec.Entry{Type: protocol.QueueReleased, Data: protocol.QueueReleasedData{Holds: []string{h.ID}}})
	}
}

// clearQueue removes the queued messages.
func (s *session) clearQueue() {
	for _, m := range slices.Clone(s.log.State.Queue) {
		s.dequeue(m.MessageID, protocol.RemovedCleared)
	}
}

// dequeue removes a queued message.
func (s *session) dequeue(message, reason string) {
	s.record(codec.Entry{
		Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: message, Reason: reason},
	})
}

// continueIn continues the session in its replacement, which the server created. The transcript and
// the queue remain, but the agent does not remember them.
func (s *session) continueIn(replacement *session) {
	s.serverID, s.lastEventID, s.lastSeq = replacement.serverID, replacement.lastEventID, replacement.lastSeq
	waiting := s.log.State.Queue
	s.recordTurnEnd(s.x.Now, connectionCut)
	s.renew()
	s.record(codec.Entry{Type: protocol.Notice, Data: protocol.NoticeData{
		Level:   protocol.LevelWarning,
		Message: "the previous session ended with its connection; the new agent does not know its transcript",
	}})
	for _, m := range waiting {
		s.record(codec.Entry{Type: protocol.QueueAdded, By: m.By, Data: protocol.QueueAddedData{Message: m}})
	}
}

// publish sends the summary of the changed session to a watching client.
func (s *session) publish() {
	if s.x.Watching && s.connected && s.publishedSeq != s.log.State.Seq {
		s.publishedSeq = s.log.State.Seq
		s.x.Publish(s.log.Session, protocol.SummaryChanged, s.log.Summary())
	}
}

// maxRaw bounds foreign JSON within an event, in bytes.
const maxRaw = 200 << 10

// clipID bounds a foreign id.
func clipID(id string) string {
	if len(id) <= maxID {
		return id
	}
	return protocol.SplitText(protocol.ValidText(id), maxID)[0]
}
