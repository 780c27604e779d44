package client

import (
	"encoding/json"
	"slices"
	"time"

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

// A resumeState is what a client's connections leave each other: its sessions, the most recently
// used one last.
type resumeState struct{ sessions []*session }

// A session is a session of the server over any number of connections.
type session struct {
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

	decodeState
}

// A decodeState is the decoding state of a session's frames.
type decodeState struct {
	answerState
	parts      int
	endedSeq   uint64 // seq of the frame that ended the last turn on this connection
	aggregate  string // result of the aggregation
	runsTasks  bool   // user.solve_tasks started the turn
	planDenied bool   // this client denied the plan

	recoveryAction string // of the current recovery
	turnDeadline   time.Time
	replaying      bool            // frames come from the previous session
	replayingList  bool            // frames come in a list: the turn goes on
	pendingSteps   map[string]bool // steps that still await an answer at the server
	numericTasks   map[string]bool // tasks whose ids are numbers at the server
	decisions      codec.Decisions // of the client, which the server does not confirm
}

// An answerState is the state of a turn's text, for servers without part ids.
type answerState struct {
	openText      string // open text part
	openReasoning string // open reasoning part
	turnText      []byte // the turn's text, without gaps
	textEnded     bool   // the server announced its end; the final answer may continue it
	textLost      bool   // a piece of the text is missing
	pieceSeq      uint64 // seq of the last piece, or the highest one before the turn
}

// forgetTurn resets the state of one turn.
func (h *decodeState) forgetTurn() {
	h.answerState, h.aggregate = answerState{}, ""
	h.runsTasks, h.planDenied, h.turnDeadline = false, false, time.Time{}
}

// findSession returns the session with a name or id, or nil.
func (c *Conn) findSession(name string) *session {
	for _, s := range slices.Backward(c.resume.sessions) {
		if s.log.Session == name || s.serverID == name || slices.Contains(s.names, name) {
			return s
		}
	}
	return nil
}

// addSession adds a session to this connection.
func (c *Conn) addSession(id string) *session {
	s := &session{log: codec.NewLog(id, c.Epoch()), serverID: id, connected: true}
	if len(c.resume.sessions) >= maxSessions {
		i := max(0, slices.IndexFunc(c.resume.sessions, func(s *session) bool { return !s.log.Following() }))
		c.resume.sessions = slices.Delete(c.resume.sessions, i, i+1)
	}
	c.resume.sessions = append(c.resume.sessions, s)
	c.current = s
	return s
}

// reset restarts a session's log from a state of the server. Finished turns stay in history. A turn
// that was running joins them if a turn ended since; otherwise the server sends it again from its
// start.
func (s *session) reset(c *Conn, state *protocol.State) {
	if was := s.log.State; was.Turn != nil && state.Turns > was.Turns {
		d := protocol.TurnEndedData{
			Reason: protocol.ReasonError, Message: "connection lost: the rest of the turn is unknown",
		}
		if last := state.Last; last != nil && last.Turn == was.Turn.Turn {
			d.Reason, d.Code = last.Reason, last.Code
		}
		c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: was.Turn.Turn, Data: d})
	}
	s.log.Renew(c.NextEpoch())
	if c.capabilities[wire.CapHistory] {
		s.log.DropHistory()
	}
	s.decodeState = decodeState{parts: s.parts}
	s.serverStart = state.Seq
	state.Seq = max(state.Seq, s.log.State.Seq+1) // after the history; no client has this seq
	s.logStart = state.Seq
	s.log.StartFrom(state)
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

// record records an event. An event that would exceed a bound of the state becomes a raw event
// without content.
func (c *Conn) record(s *session, en codec.Entry) {
	limit := maxPending
	if en.Type == protocol.ApprovalRequested {
		limit = maxApprovals
	}
	if s.log.Full(en.Type, limit) {
		en.Type, en.Data = protocol.Raw, protocol.RawData{Source: wire.Name, Method: string(en.Type)}
	}
	c.Record(s.log, en)
}

// recordRaw records a message without a native equivalent.
func (c *Conn) recordRaw(s *session, event string, data []byte) {
	c.RecordRaw(s.log, s.log.Turn(), event, data)
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

// publishSummaries sends changed sessions to a watching client.
func (c *Conn) publishSummaries() {
	for _, s := range c.resume.sessions {
		if c.Watching && s.connected && s.publishedSeq != s.log.State.Seq {
			s.publishedSeq = s.log.State.Seq
			c.Publish(s.log.Session, protocol.SummaryChanged, s.log.Summary())
		}
	}
}
