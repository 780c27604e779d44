package codec

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
)

// maxKept bounds the events that a Log keeps, in bytes.
const maxKept = 8 << 20

// A Log is a session at agentctl's client. The codec adds events; the Log numbers them, reduces
// them to a state and keeps the lines that a subscription needs.
type Log struct {
	Session string
	Epoch   string
	State   *protocol.State

	ResetReason  string // the reason of a reset for positions of other connections; empty: protocol.ResetFresh
	ResumeReason string // the reason of the next resume; empty: the log holds the missed events

	snapshot   snapshot // where subscriptions without a position begin
	first      snapshot // where the log began; its state is nil if the log began empty
	droppedSeq uint64   // the seq before the first of lines, at most snapshot.seq
	lines      [][]byte
	bytes      int
	following  bool

	turns     []finishedTurn // turns
	turnBytes int

	summary []byte // as last sent to a client that watches
}

// A snapshot is an encoded state and its seq.
type snapshot struct {
	state json.RawMessage
	seq   uint64
}

// Epoch returns an epoch made from an id.
func Epoch(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(id[:min(len(id), 48)]))
}

// NewLog returns an empty log.
func NewLog(session, epoch string) *Log {
	l := &Log{Session: session, Epoch: epoch, State: &protocol.State{Session: session}}
	l.setBoundary()
	return l
}

// StartFrom makes a state the beginning of the log and drops all events. A subscription from an
// earlier position gets a reset.
func (l *Log) StartFrom(state *protocol.State) {
	state.Session = l.Session
	l.State = state
	l.setBoundary()
	l.droppedSeq, l.lines, l.bytes = l.snapshot.seq, nil, 0
	l.first = l.snapshot
}

// An Entry is an event to be recorded.
type Entry struct {
	Type   protocol.Type
	Turn   string
	Task   string
	Parent string
	By     *protocol.Actor
	Time   time.Time // now, if zero or outside of the years 1 to 9999, which RFC 3339 cannot express
	Data   any
}

// Add records an event and sends it to a subscribed client. An event that the state does not
// accept, or that is too large or too deep, becomes a raw event: a foreign server must not be able
// to end the session.
func (l *Log) Add(out *Output, now time.Time, en Entry) {
	if year := en.Time.UTC().Year(); en.Time.IsZero() || year < 1 || year > 9999 {
		en.Time = now
	}
	e := protocol.Event{
		Session: l.Session, Seq: l.State.Seq + 1, Turn: en.Turn, Task: en.Task, Parent: en.Parent, By: en.By,
		Type: en.Type,
		Time: en.Time.UTC().Truncate(time.Millisecond),
	}
	first := uint64(0) // of the current turn
	if l.State.Turn != nil {
		first = l.State.Turn.First
	}
	data, err := protocol.Encode(en.Data)
	if err == nil {
		if compact, ok := protocol.Compact(data); ok {
			e.Data = compact
		}
	}
	if err != nil || len(e.Data) > maxData || !nestsWithin(maxDepth+maxEnvelopeDepth, e.Data) ||
		l.State.Apply(&e) != nil {
		e.Type, e.Data = protocol.Raw, protocol.MustEncode(protocol.RawData{
			Source: "bridge", Method: protocol.SplitText(string(en.Type), 256)[0], Bytes: int64(len(data)),
		})
		if l.State.Apply(&e) != nil {
			return
		}
	}
	line := e.AppendJSON(nil)
	l.lines = append(l.lines, line)
	l.bytes += len(line)
	if l.following {
		out.Native = append(out.Native, line)
	}
	if e.Type == protocol.TurnEnded {
		l.keepTurn(first)
	}
	if en.Type == protocol.TurnEnded || l.bytes > maxKept && l.snapshot.seq == l.droppedSeq {
		l.setBoundary()
	}
	l.dropOldLines()
}

// Bounds of an event's data: its size, so that the event fits protocol.MaxEvent, and its depth in
// addition to the foreign JSON's.
const (
	maxData          = protocol.MaxEvent - 4<<10
	maxEnvelopeDepth = 16
)

// setBoundary makes the current state the one at which subscriptions without a position begin.
func (l *Log) setBoundary() { l.snapshot = snapshot{protocol.MustEncode(l.State), l.State.Seq} }

// dropOldLines drops the oldest events before the boundary while the log is over its bound.
func (l *Log) dropOldLines() {
	n := 0
	for l.bytes > maxKept && l.droppedSeq < l.snapshot.seq {
		l.bytes -= len(l.lines[n])
		l.droppedSeq++
		n++
	}
	l.lines = slices.Delete(l.lines, 0, n)
}

// Attach answers a subscribe and subscribes the client.
func (l *Log) Attach(out *Output, d *Responder, c *protocol.Command, now time.Time) {
	var want protocol.SubscribeData
	if err := c.DecodeData(&want); err != nil {
		d.Fail(out, c, err)
		return
	}
	end := protocol.Position{Epoch: l.Epoch, Seq: l.State.Seq}
	r := protocol.SubscribeResult{
		Session: l.Session, Mode: protocol.ModeSnapshot, Position: end, After: protocol.Position{
			Epoch: l.Epoch, Seq: l.snapshot.seq,
		},
		Clients: []protocol.Client{},
	}
	if p := want.Position; p != nil {
		switch {
		case p.Epoch != "" && p.Epoch != l.Epoch, p.Seq < l.droppedSeq:
			r.Mode, r.Reason = protocol.ModeReset, cmp.Or(l.ResetReason, protocol.ResetFresh)
		case p.Seq > end.Seq:
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetPastEnd
		default:
			r.Mode, r.Reason, r.After.Seq = protocol.ModeResume, l.ResumeReason, p.Seq
		}
	}
	if r.Mode != protocol.ModeResume {
		from := l.snapshot.state
		if p := want.Position; p != nil && p.Epoch == "" && l.droppedSeq == l.first.seq &&
			l.first.state != nil { // all events are kept
			from, r.After.Seq = l.first.state, l.first.seq
		}
		state := new(protocol.State)
		_ = json.Unmarshal(from, state) // encoded by setBoundary
		r.Snapshot = &protocol.Snapshot{Epoch: l.Epoch, State: state}
	}
	d.Answer(out, c, r)
	out.Native = append(out.Native, l.lines[r.After.Seq-l.droppedSeq:]...)
	out.Native = append(out.Native, Ephemeral(l.Session, protocol.CaughtUp, now, protocol.CaughtUpData{Position: end}))
	l.following, l.ResumeReason = true, ""
}

// Detach unsubscribes the client.
func (l *Log) Detach() { l.following = false }

// Turn returns the id of the current turn; empty: none.
func (l *Log) Turn() string {
	if l.State.Turn == nil {
		return ""
	}
	return l.State.Turn.Turn
}

// Full reports whether the state holds limit or more of the things that an event of a type adds to
// it. A codec checks it before Add, so that a foreign server cannot grow the state without bound.
func (l *Log) Full(t protocol.Type, limit int) bool {
	st, n := l.State, 0
	switch t {
	case protocol.QueueAdded:
		n = len(st.Queue)
	case protocol.QueueHeld:
		n = len(st.Holds)
	case protocol.ApprovalRequested:
		n = len(st.Approvals)
	case protocol.ApprovalExplained:
		for i := range st.Approvals {
			n += len(st.Approvals[i].Explained)
		}
	case protocol.ApprovalResolved:
		n = len(st.Rules)
	case protocol.TextStart, protocol.ReasoningStart:
		if st.Turn != nil {
			n = len(st.Turn.Parts)
		}
	case protocol.ToolStarted:
		if st.Turn != nil {
			n = len(st.Turn.Tools)
		}
	}
	return n >= limit
}

// Following reports whether the client is subscribed.
func (l *Log) Following() bool { return l.following }

// Snapshot returns the answer to a snapshot command.
func (l *Log) Snapshot() protocol.SnapshotResult {
	return protocol.SnapshotResult{
		Snapshot: protocol.Snapshot{
			Epoch: l.Epoch, State: l.State,
		}, Status: l.State.Status(), Clients: []protocol.Client{},
	}
}

// Summary returns the session's row in the session list.
func (l *Log) Summary() protocol.Summary {
	s := l.State
	sum := protocol.Summary{
		Session: l.Session, Name: s.Name, Title: s.Title, Agent: s.Agent, Status: s.Status(), Seq: s.Seq,
		Epoch: l.Epoch,
		Queue: len(s.Queue), Held: len(s.Queue) > 0 && s.BlockingHold() != nil, Approvals: len(s.Approvals),
		Attributes: s.Attributes, Updated: s.Created,
	}
	if s.Turn != nil {
		sum.Turn = s.Turn.Turn
	}
	return sum
}

// Ephemeral encodes an event without a seq.
func Ephemeral(session string, typ protocol.Type, now time.Time, data any) []byte {
	e := protocol.Event{Session: session, Type: typ, Time: now, Data: protocol.MustEncode(data)}
	return e.AppendJSON(nil)
}

// Renew continues a log after a time in which events may have been missed: with another epoch,
// unsubscribed, without a turn, queue or approvals. Finished turns stay in the history, so the
// caller ends an open turn first.
func (l *Log) Renew(epoch string) {
	was := l.State
	l.Epoch, l.following = epoch, false
	l.StartFrom(&protocol.State{
		Session: was.Session, Seq: was.Seq, Name: was.Name, Title: was.Title, Agent: was.Agent, CWD: was.CWD,
		Attributes: was.Attributes,
		Closed:     was.Closed, Last: was.Last, Turns: was.Turns, Context: was.Context, Usage: was.Usage,
		Options: was.Options,
		History: was.History,
	})
}
