package recorder

import (
	"cmp"
	"log/slog"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/record"
)

// A Recorder is the one writer of a session's events. It owns the state at the journal's head, which
// others read. One goroutine calls its methods.
type Recorder struct {
	state   *protocol.State
	journal *eventlog.Journal
	log     func() *slog.Logger

	boundary boundary
	row      row
	last     time.Time // when the session itself recorded an event last
}

// New returns the recorder of a session without events. It logs events that it cannot record. list
// is called with changes of the session's row, before they are visible.
func New(
	state *protocol.State, journal *eventlog.Journal, log func() *slog.Logger,
	list func(sum protocol.Summary, queued time.Time),
) *Recorder {
	return &Recorder{state: state, journal: journal, log: log, row: row{list: list}}
}

// Adopt sets the state, the boundary and the row from the store.
func (r *Recorder) Adopt(rec *eventlog.Record, state *protocol.State) {
	*r.state = *state
	r.row.adopt(rec)
	r.boundary = boundary{rec.Snapshot, rec.SnapSeq}
}

// Record appends an event of the current turn that the session makes itself. Data always fits,
// because callers bound texts of users; a failure is a bug of the server and only logged.
func (r *Recorder) Record(typ protocol.Type, by *protocol.Actor, data any) *protocol.Event {
	return r.RecordIn(r.Turn(), typ, by, data)
}

// RecordIn is Record for a turn; an empty id means none.
func (r *Recorder) RecordIn(turn string, typ protocol.Type, by *protocol.Actor, data any) *protocol.Event {
	return r.record(turn, &record.Event{Type: typ, By: by, Data: data})
}

// RecordAll records the events of a part, in order, as Record does, and returns the last of them.
func (r *Recorder) RecordAll(events ...record.Event) (last *protocol.Event) {
	for i := range events {
		last = r.record(r.Turn(), &events[i])
	}
	return last
}

// record encodes an event and appends it. After a failure, which it logs, it returns an event with
// only a position.
func (r *Recorder) record(turn string, ev *record.Event) *protocol.Event {
	en := eventlog.Entry{Type: ev.Type, Turn: turn, Task: ev.Task, Parent: ev.Parent, By: ev.By}
	var e *protocol.Event
	var err error
	if en.Data, err = record.Encode(ev.Data); err == nil {
		e, err = r.Append(&en)
	}
	if err != nil {
		r.log().Error("record event", "type", ev.Type, "err", err)
		return &protocol.Event{Seq: r.state.Seq}
	}
	r.last = e.Time
	switch ev.Type {
	case protocol.SessionCreated, protocol.SessionClosed:
		r.log().Info(string(ev.Type), "actor", ActorName(ev.By))
	case protocol.TurnStarted, protocol.TurnEnded:
		r.log().Debug(string(ev.Type), "turn", r.Turn(), "actor", ActorName(ev.By))
	}
	return e
}

// ActorName returns the name of an actor for the log.
func ActorName(by *protocol.Actor) string {
	if by == nil {
		return ""
	}
	return cmp.Or(by.Subject, by.Name)
}

// Append appends an entry. It is Journal.Append.
func (r *Recorder) Append(en *eventlog.Entry) (*protocol.Event, error) {
	e, err := r.append(en)
	r.row.stale = r.row.stale || err == nil
	return e, err
}

// AppendOutput appends an entry of the agent. A delta changes the row at most once a second.
func (r *Recorder) AppendOutput(en *eventlog.Entry) error {
	e, err := r.append(en)
	if err == nil && (en.Delta.Kind == "" || r.row.output.Write(en.Turn, en.Delta, e.Time)) {
		r.row.stale = true
	}
	return err
}

func (r *Recorder) append(en *eventlog.Entry) (*protocol.Event, error) {
	e, err := r.journal.Append(r.state, en)
	if err != nil {
		return nil, err //nolint:wrapcheck // of the same append
	}
	if e.Type == protocol.TurnStarted {
		r.row.waits = protocol.Waits{}
	}
	r.row.waits.Apply(e)
	switch {
	case en.Turn == "" && e.By == nil && !r.row.active.IsZero():
	case en.Time.IsZero():
		r.row.active = e.Time
	default: // a restored event is older
		r.row.active = record.Time(time.Now())
	}
	return e, nil
}

// Turn returns the id of the state's turn, or "".
func (r *Recorder) Turn() string {
	if r.state.Turn == nil {
		return ""
	}
	return r.state.Turn.Turn
}

// Last returns when the session itself recorded an event last; zero: not since it was loaded.
func (r *Recorder) Last() time.Time { return r.last }
