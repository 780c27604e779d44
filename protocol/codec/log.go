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

// A Log is a session at our client's end: the codec says what happened, the Log numbers it and keeps the state it folds to and
// what is needed to attach.
type Log struct {
	Session string
	Epoch   string
	State   *protocol.State

	ResetReason  string // why positions of other connections get a reset; empty: protocol.ResetFresh
	ResumeReason string // how what was missed comes to who attaches next from a position; empty: it is here

	boundary json.RawMessage // the state that attachments without a position begin at
	from     uint64          // its seq
	origin   json.RawMessage // the state that the log began at, if it is not empty
	begun    uint64          // its seq
	kept     uint64          // the seq before the first of lines, at most from
	lines    [][]byte
	bytes    int
	follow   bool

	past      []finished // turns
	pastBytes int
}

// Epoch makes an epoch of an id.
func Epoch(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, strings.ToLower(id[:min(len(id), 48)]))
}

// NewLog begins a session's log.
func NewLog(session, epoch string) *Log {
	l := &Log{Session: session, Epoch: epoch, State: &protocol.State{Session: session}}
	l.mark()
	return l
}

// StartFrom makes a state that was learned otherwise the log's beginning: nothing was recorded before its seq, and nothing is kept. An
// attachment from before it gets a reset.
func (l *Log) StartFrom(state *protocol.State) {
	state.Session = l.Session
	l.State = state
	l.mark()
	l.kept, l.lines, l.bytes = l.from, nil, 0
	l.origin, l.begun = l.boundary, l.from
}

// An Entry is what happened.
type Entry struct {
	Type   protocol.Type
	Turn   string
	Task   string
	Parent string
	By     *protocol.Actor
	Time   time.Time // zero, or not of the years 1 to 9999, which alone can be written: now
	Data   any
}

// Add records what happened, and tells the client if it follows. An entry that the state cannot take, or that is too large or too deep
// for an event, becomes a raw event: what a foreign server says must not end the session.
func (l *Log) Add(out *Output, now time.Time, en Entry) {
	if year := en.Time.UTC().Year(); en.Time.IsZero() || year < 1 || year > 9999 {
		en.Time = now
	}
	e := protocol.Event{
		Session: l.Session, Seq: l.State.Seq + 1, Turn: en.Turn, Task: en.Task, Parent: en.Parent, By: en.By, Type: en.Type,
		Time: en.Time.UTC().Truncate(time.Millisecond),
	}
	first := uint64(0) // of the turn under way
	if l.State.Turn != nil {
		first = l.State.Turn.First
	}
	data, err := protocol.Encode(en.Data)
	if err == nil {
		if compact, ok := protocol.Compact(data); ok {
			e.Data = compact
		}
	}
	if err != nil || len(e.Data) > maxData || !within(maxDepth+maxOurs, e.Data) || l.State.Apply(&e) != nil {
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
	if l.follow {
		out.Native = append(out.Native, line)
	}
	if e.Type == protocol.TurnEnded {
		l.keep(first)
	}
	if en.Type == protocol.TurnEnded || l.bytes > maxKept && l.from == l.kept {
		l.mark()
	}
	l.forget()
}

// Bounds of the data of one event: in bytes, so that all of it fits protocol.MaxEvent, and how deep it nests beside foreign JSON.
const (
	maxData = protocol.MaxEvent - 4<<10
	maxOurs = 16
)

// mark makes now the boundary that attachments without a position begin at.
func (l *Log) mark() { l.boundary, l.from = protocol.MustEncode(l.State), l.State.Seq }

// forget drops the oldest lines before the boundary while there are too many.
func (l *Log) forget() {
	n := 0
	for l.bytes > maxKept && l.kept < l.from {
		l.bytes -= len(l.lines[n])
		l.kept++
		n++
	}
	l.lines = slices.Delete(l.lines, 0, n)
}

// Attach answers a subscribe and lets the client follow from there on.
func (l *Log) Attach(out *Output, d *Responder, c *protocol.Command, now time.Time) {
	var want protocol.SubscribeData
	if err := c.DecodeData(&want); err != nil {
		d.Fail(out, c, err)
		return
	}
	end := protocol.Position{Epoch: l.Epoch, Seq: l.State.Seq}
	r := protocol.SubscribeResult{
		Session: l.Session, Mode: protocol.ModeSnapshot, Position: end, After: protocol.Position{Epoch: l.Epoch, Seq: l.from},
		Clients: []protocol.Client{},
	}
	if p := want.Position; p != nil {
		switch {
		case p.Epoch != "" && p.Epoch != l.Epoch, p.Seq < l.kept:
			r.Mode, r.Reason = protocol.ModeReset, cmp.Or(l.ResetReason, protocol.ResetFresh)
		case p.Seq > end.Seq:
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetPastEnd
		default:
			r.Mode, r.Reason, r.After.Seq = protocol.ModeResume, l.ResumeReason, p.Seq
		}
	}
	if r.Mode != protocol.ModeResume {
		from := l.boundary
		if p := want.Position; p != nil && p.Epoch == "" && l.kept == l.begun && l.origin != nil { // all there is
			from, r.After.Seq = l.origin, l.begun
		}
		state := new(protocol.State)
		_ = json.Unmarshal(from, state) // our own encoding
		r.Snapshot = &protocol.Snapshot{Epoch: l.Epoch, State: state}
	}
	d.Answer(out, c, r)
	out.Native = append(out.Native, l.lines[r.After.Seq-l.kept:]...)
	out.Native = append(out.Native, Ephemeral(l.Session, protocol.CaughtUp, now, protocol.CaughtUpData{Position: end}))
	l.follow, l.ResumeReason = true, ""
}

// Detach ends what Attach began.
func (l *Log) Detach() { l.follow = false }

// Following reports whether the client follows.
func (l *Log) Following() bool { return l.follow }

// Snapshot is the answer to snapshot.
func (l *Log) Snapshot() protocol.SnapshotResult {
	return protocol.SnapshotResult{
		Snapshot: protocol.Snapshot{Epoch: l.Epoch, State: l.State}, Status: l.State.Status(), Clients: []protocol.Client{},
	}
}

// Summary is the session in one line.
func (l *Log) Summary() protocol.Summary {
	s := l.State
	sum := protocol.Summary{
		Session: l.Session, Name: s.Name, Title: s.Title, Agent: s.Agent, Status: s.Status(), Seq: s.Seq, Epoch: l.Epoch,
		Queue: len(s.Queue), Held: len(s.Queue) > 0 && s.BlockingHold() != nil, Approvals: len(s.Approvals), Created: s.Created, Updated: s.Created,
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
