package myagent

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of what a client remembers.
const (
	maxSessions = 32
	maxNames    = 16  // of a session
	maxID       = 256 // bytes of a foreign id
	maxPending  = 256 // queued messages, holds, rules, open parts and tools of a session
	maxAsked    = 64  // pending approvals of a session, and explanations of one
)

// memory is what a client's connections leave each other: its sessions, the one used last at the end.
type memory struct{ sessions []*session }

// A session is one session of the server as our client sees it, over any number of connections.
type session struct {
	log     *codec.Log
	foreign string   // its id at the server now
	names   []string // that our client used for it
	here    bool     // on this connection
	last    string   // event_id of the last frame
	lastSeq uint64   // and its seq
	had     string   // event_id of the last frame when the session was revived
	hadSeq  uint64   // and its seq
	state   json.RawMessage
	summary []byte // as last told to a client that watches
	origin  uint64 // the server's seq that the log began at; 0: the log is all there is
	begun   uint64 // and the log's own: nothing before it is in the log

	hearing
}

// A hearing is what has to be remembered of a session's frames.
type hearing struct {
	turns   int
	parts   int
	text    string // the open text part that a server without part ids means
	thought string // and its reasoning part
	heard   []byte // the turn's text
	summed  string // and what its aggregation came to
	solving bool   // the turn was begun by user.solve_tasks

	recovering string // what was begun to recover by
	lapse      time.Time
	replays    bool            // frames are of the session before
	lists      bool            // they came in a list: the turn goes on
	waits      map[string]bool // steps that the server says still wait
	whole      map[string]bool // task ids that are numbers at the server
	decided    []decided
}

// forgetTurn forgets what was of one turn only.
func (h *hearing) forgetTurn() {
	h.text, h.thought, h.heard, h.summed, h.solving, h.lapse = "", "", nil, "", false, time.Time{}
}

// A decided is an approval that our client decided where the server does not say so.
type decided struct {
	request string
	winner  protocol.Winner
}

// find returns a session that is known by that name, or nil.
func (c *client) find(name string) *session {
	for _, s := range slices.Backward(c.memory.sessions) {
		if s.log.Session == name || s.foreign == name || slices.Contains(s.names, name) {
			return s
		}
	}
	return nil
}

// begin makes a session of this connection.
func (c *client) begin(id string) *session {
	s := &session{log: codec.NewLog(id, c.desk.Epoch), foreign: id, here: true}
	if len(c.memory.sessions) >= maxSessions {
		i := max(0, slices.IndexFunc(c.memory.sessions, func(s *session) bool { return !s.log.Following() }))
		c.memory.sessions = slices.Delete(c.memory.sessions, i, i+1)
	}
	c.memory.sessions = append(c.memory.sessions, s)
	c.current = s
	return s
}

// renew makes a state that the server told the session's: its log begins anew there, and finished turns stay for history. The turn
// that was under way is one of them if a turn ended since; else it is told again from its start.
func (s *session) renew(c *client, state *protocol.State) {
	if was := s.log.State; was.Turn != nil && state.Turns > was.Turns {
		d := protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "the connection was lost: what else the turn brought is not known"}
		if last := state.Last; last != nil && last.Turn == was.Turn.Turn {
			d.Reason, d.Code = last.Reason, last.Code
		}
		s.add(c, codec.Entry{Type: protocol.TurnEnded, Turn: was.Turn.Turn, Data: d})
	}
	s.log.Renew(s.nextEpoch(c))
	if c.can[canHistory] {
		s.log.DropHistory()
	}
	s.hearing = hearing{turns: s.turns, parts: s.parts}
	s.origin = state.Seq
	state.Seq = max(state.Seq, s.log.State.Seq+1) // behind what is history, and nobody can have it
	s.begun = state.Seq
	s.log.StartFrom(state)
}

// nextEpoch is the epoch in which the session's log begins anew.
func (s *session) nextEpoch(c *client) string {
	if s.log.Epoch == c.desk.Epoch {
		return c.desk.Epoch + "x" // twice on one connection
	}
	return c.desk.Epoch
}

// named remembers what our client calls the session.
func (s *session) named(name string) {
	if name == "" || name == s.log.Session || slices.Contains(s.names, name) {
		return
	}
	if len(s.names) == maxNames {
		s.names = slices.Delete(s.names, 0, 1)
	}
	s.names = append(s.names, name)
}

// full reports whether the state can take no more of what a type of event adds to it.
func (s *session) full(t protocol.Type) bool {
	st := s.log.State
	switch t {
	case protocol.ApprovalRequested:
		return len(st.Approvals) >= maxAsked
	case protocol.ApprovalExplained:
		return slices.ContainsFunc(st.Approvals, func(a protocol.Approval) bool { return len(a.Explained) >= maxAsked })
	case protocol.ApprovalResolved:
		return len(st.Rules) >= maxPending
	case protocol.QueueAdded:
		return len(st.Queue) >= maxPending
	case protocol.QueueHeld:
		return len(st.Holds) >= maxPending
	case protocol.TextStart, protocol.ReasoningStart:
		return st.Turn != nil && len(st.Turn.Parts) >= maxPending
	case protocol.ToolStarted:
		return st.Turn != nil && len(st.Turn.Tools) >= maxPending
	}
	return false
}

// add records what happened.
func (s *session) add(c *client, en codec.Entry) {
	if s.full(en.Type) {
		en.Type, en.Data = protocol.Raw, protocol.RawData{Source: Name, Method: string(en.Type)}
	}
	s.log.Add(c.out, c.now, en)
}

// raw keeps a message that maps to nothing here.
func (s *session) raw(c *client, event string, data []byte) {
	turn := ""
	if s.log.State.Turn != nil {
		turn = s.log.State.Turn.Turn
	}
	s.add(c, codec.Entry{Type: protocol.Raw, Turn: turn, Data: codec.Raw(Name, event, data)})
}

// maxRaw bounds foreign JSON within an event, in bytes.
const maxRaw = 200 << 10

// clip bounds a foreign id.
func clip(id string) string {
	if len(id) <= maxID {
		return id
	}
	return protocol.SplitText(protocol.ValidText(id), maxID)[0]
}

// summarize tells a client that watches of sessions that changed.
func (c *client) summarize() {
	for _, s := range c.memory.sessions {
		if !c.watched || !s.here {
			continue
		}
		sum := protocol.MustEncode(s.log.Summary())
		if !bytes.Equal(sum, s.summary) {
			s.summary = sum
			c.out.Native = append(c.out.Native, codec.Ephemeral(s.log.Session, protocol.SummaryChanged, c.now, sum))
		}
	}
}
