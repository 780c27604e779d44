package codectest

import (
	"encoding/json"

	"agentctl/protocol"
)

// A NativeServer is a native server below a server codec. It answers commands about logs.
type NativeServer struct {
	T             T
	Log           func(session string) *Log // nil: no session of that id
	AllowRefusals bool                      // the codec's commands may be invalid
	Commands      []protocol.Command        // valid ones, except those about the connection

	// Answers has the answers that are not the default: a *protocol.Error or a func(protocol.Command)
	// (any, *protocol.Error), or the result for a session that exists.
	Answers map[protocol.Verb]any

	// Default returns the result of a command that is not about a log; nil: none.
	Default func(c *protocol.Command, data any) any
}

// Handle answers a command.
func (s *NativeServer) Handle(line []byte) [][]byte {
	s.T.Helper()
	c, err := protocol.DecodeCommand(line)
	var data any
	if ct := protocol.CommandOf(c.Command); err == nil && ct != nil {
		data = ct.Data()
		err = c.DecodeData(data)
	}
	if err != nil {
		if !s.AllowRefusals || c.ID == "" {
			s.T.Fatalf("invalid command %s: %v", line, err)
		}
		return failed(&c, protocol.AsError(err))
	}
	s.Commands = append(s.Commands, c)
	own := s.Answers[c.Command]
	switch a := own.(type) {
	case *protocol.Error:
		return failed(&c, a)
	case func(protocol.Command) (any, *protocol.Error):
		result, err := a(c)
		if err != nil {
			return failed(&c, err)
		}
		return answered(&c, result)
	}
	var l *Log
	if c.Session != "" {
		if l = s.Log(c.Session); l == nil {
			return failed(&c, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
		}
	}
	if own != nil {
		return answered(&c, own)
	}
	if l != nil {
		if d, ok := data.(*protocol.SubscribeData); ok {
			r, events := l.subscribe(d.Position)
			return append(answered(&c, r), events...)
		}
		if r := l.do(c.Command); r != nil {
			return answered(&c, r)
		}
	}
	if s.Default != nil {
		if r := s.Default(&c, data); r != nil {
			return answered(&c, r)
		}
	}
	return answered(&c, protocol.Empty{})
}

func answered(c *protocol.Command, result any) [][]byte {
	return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)})}
}

func failed(c *protocol.Command, err *protocol.Error) [][]byte {
	return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: err})}
}

// A Log is the log of a session at a native server, with at most one subscriber.
type Log struct {
	t         T
	Session   string
	Epoch     string
	Events    []protocol.Event
	After     uint64 // seq of the last event that the subscriber has
	Following bool   // there is a subscriber
	Joins     bool   // past events are joined for a subscriber
}

// NewLog returns an empty log.
func NewLog(t T, session, epoch string) *Log { return &Log{t: t, Session: session, Epoch: epoch} }

// Event returns an event of a turn; an empty turn means none.
func Event(typ protocol.Type, turn string, data any) protocol.Event {
	return protocol.Event{Type: typ, Turn: turn, Data: protocol.MustEncode(data)}
}

// Add appends an event, which has a time.
func (l *Log) Add(e protocol.Event) *protocol.Event {
	e.Session, e.Seq = l.Session, uint64(len(l.Events)+1)
	l.Events = append(l.Events, e)
	return &l.Events[len(l.Events)-1]
}

// StateAt returns the state after an event.
func (l *Log) StateAt(seq uint64) *protocol.State {
	s := &protocol.State{Session: l.Session}
	for i := range l.Events[:seq] {
		if err := s.Apply(&l.Events[i]); err != nil {
			l.t.Fatalf("own event: %v", err)
		}
	}
	return s
}

// boundary returns the seq of the last end of a turn.
func (l *Log) boundary() uint64 {
	for i := len(l.Events) - 1; i >= 0; i-- {
		if l.Events[i].Type == protocol.TurnEnded {
			return l.Events[i].Seq
		}
	}
	return 0
}

// subscribe returns the answer to a subscription and the lines that follow it.
func (l *Log) subscribe(p *protocol.Position) (r protocol.SubscribeResult, lines [][]byte) {
	end := protocol.Position{Epoch: l.Epoch, Seq: uint64(len(l.Events))}
	r = protocol.SubscribeResult{
		Session: l.Session, Mode: protocol.ModeSnapshot, Position: end, Clients: []protocol.Client{},
		After: protocol.Position{Epoch: l.Epoch, Seq: l.boundary()},
	}
	if p != nil && (p.Epoch == "" || p.Epoch == l.Epoch) && p.Seq <= end.Seq {
		r.Mode, r.After.Seq = protocol.ModeResume, p.Seq
	} else {
		if p != nil {
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetEpoch
		}
		r.Snapshot = &protocol.Snapshot{Epoch: l.Epoch, State: l.StateAt(r.After.Seq)}
	}
	past := l.Events[r.After.Seq:]
	if l.Joins {
		past = protocol.JoinDeltas(past)
	}
	for i := range past {
		lines = append(lines, past[i].AppendJSON(nil))
	}
	caught := Event(protocol.CaughtUp, "", protocol.CaughtUpData{Position: end})
	caught.Session, caught.Time = l.Session, Start
	l.After, l.Following = end.Seq, true
	return r, append(lines, caught.AppendJSON(nil))
}

// do returns the result of another command about the log; nil: the command is not about it.
func (l *Log) do(verb protocol.Verb) any {
	switch verb {
	case protocol.DoUnsubscribe:
		l.Following = false
	case protocol.DoSnapshot:
		s := l.StateAt(uint64(len(l.Events)))
		return protocol.SnapshotResult{
			Snapshot: protocol.Snapshot{Epoch: l.Epoch, State: s}, Status: s.Status(), Clients: []protocol.Client{},
		}
	case protocol.DoHistory:
		var list []json.RawMessage
		for _, e := range protocol.JoinDeltas(l.Events[:l.boundary()]) {
			list = append(list, e.AppendJSON(nil))
		}
		return protocol.HistoryResult{Epoch: l.Epoch, First: 1, Events: list}
	}
	return nil
}

// NewLines returns the events that the subscriber does not have yet.
func (l *Log) NewLines() (lines [][]byte) {
	if !l.Following {
		return nil
	}
	for i := range l.Events[l.After:] {
		lines = append(lines, l.Events[l.After:][i].AppendJSON(nil))
	}
	l.After = uint64(len(l.Events))
	return lines
}
