package myagenttest

import (
	"fmt"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
)

// A NativeServer is a scripted native server.
type NativeServer struct {
	t           codectest.T
	Logs        map[string][]protocol.Event
	Subscribed  map[string]bool
	Commands    []protocol.Command
	made        int
	connections int
	Answers     map[protocol.Verb]func(protocol.Command) (any, *protocol.Error)
}

const nativeEpoch = "epoch1"

// NewNativeServer returns a server without sessions.
func NewNativeServer(t codectest.T) *NativeServer {
	return &NativeServer{
		t: t, Logs: map[string][]protocol.Event{}, Subscribed: map[string]bool{},
		Answers: map[protocol.Verb]func(protocol.Command) (any, *protocol.Error){},
	}
}

// Append appends events to a session and returns the lines for a subscriber.
func (p *NativeServer) Append(session string, events ...protocol.Event) [][]byte {
	var lines [][]byte
	for _, e := range events {
		e.Session, e.Seq = session, uint64(len(p.Logs[session])+1)
		if e.Time.IsZero() {
			e.Time = codectest.Start.Add(time.Duration(e.Seq) * time.Second)
		}
		p.Logs[session] = append(p.Logs[session], e)
		if p.Subscribed[session] {
			lines = append(lines, e.AppendJSON(nil))
		}
	}
	return lines
}

// Event returns an event of a turn; an empty turn means none.
func Event(typ protocol.Type, turn string, data any) protocol.Event {
	return protocol.Event{Type: typ, Turn: turn, Data: protocol.MustEncode(data)}
}

// Handle answers one command.
func (p *NativeServer) Handle(line []byte) [][]byte {
	p.t.Helper()
	c, err := protocol.DecodeCommand(line)
	if err != nil {
		p.t.Fatalf("the codec sent a bad command %s: %v", line, err)
	}
	data := protocol.CommandOf(c.Command).Data()
	if err := c.DecodeData(data); err != nil {
		p.t.Fatalf("the codec sent bad data %s: %v", line, err)
	}
	p.Commands = append(p.Commands, c)
	answer := func(result any) [][]byte {
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)})}
	}
	if do := p.Answers[c.Command]; do != nil {
		result, fault := do(c)
		if fault != nil {
			return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: fault})}
		}
		return answer(result)
	}
	if _, known := p.Logs[c.Session]; !known && c.Session != "" {
		return [][]byte{
			protocol.MustEncode(protocol.Answer{
				ID: c.ID, Error: protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session),
			}),
		}
	}
	switch d := data.(type) {
	case *protocol.HelloData:
		return answer(protocol.HelloResult{Version: "v1", Connection: "c1"})
	case *protocol.CreateData:
		p.made++
		id := fmt.Sprintf("s%d", p.made)
		p.Append(id, Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script", Title: d.Title}))
		return answer(protocol.CreateResult{Session: id, Position: protocol.Position{Epoch: nativeEpoch, Seq: 1}})
	case *protocol.RestoreData:
		p.made++
		id := fmt.Sprintf("s%d", p.made)
		p.Append(id, Event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}),
			Event(protocol.StateRestored, "", protocol.StateRestoredData{Session: "s1"}))
		return answer(protocol.CreateResult{Session: id, Position: protocol.Position{Epoch: nativeEpoch, Seq: 2}})
	case *protocol.SubscribeData:
		return p.subscribe(c, d, answer)
	case *protocol.SendData:
		return answer(protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1", Turn: "t1", Seq: 7})
	case *protocol.ApproveData:
		return answer(protocol.ApproveResult{
			Request: d.Request, Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
		})
	case *protocol.InterruptData:
		return answer(protocol.InterruptResult{Interrupted: d.Turn != "", Turn: d.Turn})
	case *protocol.PlanRunData:
		return answer(protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1"})
	}
	if c.Command == protocol.DoExport {
		return answer(protocol.ExportResult{
			State: protocol.SignedState{Version: "1", State: []byte("{}"), Signature: "x"}, Expires: codectest.Start,
		})
	}
	if c.Command == protocol.DoUnsubscribe {
		p.Subscribed[c.Session] = false
	}
	return answer(protocol.Empty{})
}

func (p *NativeServer) subscribe(c protocol.Command, d *protocol.SubscribeData, answer func(any) [][]byte) [][]byte {
	log := p.Logs[c.Session]
	p.Subscribed[c.Session] = true
	end := protocol.Position{Epoch: nativeEpoch, Seq: uint64(len(log))}
	r := protocol.SubscribeResult{Session: c.Session, Position: end, Clients: []protocol.Client{}}
	if d.Position != nil && d.Position.Seq <= end.Seq && (d.Position.Epoch == "" || d.Position.Epoch == nativeEpoch) {
		r.Mode, r.After = protocol.ModeResume, protocol.Position{Epoch: nativeEpoch, Seq: d.Position.Seq}
	} else {
		r.Mode, r.After = protocol.ModeSnapshot, protocol.Position{Epoch: nativeEpoch}
		state := &protocol.State{Session: c.Session}
		boundary := &protocol.State{Session: c.Session}
		for i := range log {
			if err := state.Apply(&log[i]); err != nil {
				p.t.Fatal(err)
			}
			if log[i].Type == protocol.TurnEnded {
				boundary = state.Clone()
				r.After.Seq = log[i].Seq
			}
		}
		r.Snapshot = &protocol.Snapshot{Epoch: nativeEpoch, State: boundary}
	}
	lines := answer(r)
	for i := range log[r.After.Seq:] {
		e := log[r.After.Seq+uint64(i)]
		lines = append(lines, e.AppendJSON(nil))
	}
	up := protocol.Event{
		Session: c.Session, Type: protocol.CaughtUp, Time: codectest.Start,
		Data: protocol.MustEncode(protocol.CaughtUpData{Position: end}),
	}
	return append(lines, up.AppendJSON(nil))
}
