package myagent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// sequentialIDs returns predictable ids.
func sequentialIDs() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s_%d", prefix, n) }
}

func sign(message string) string {
	return fmt.Sprintf("%064x", len(message)) + message[:min(8, len(message))]
}

// A nativeServer is a scripted native server.
type nativeServer struct {
	t           testing.TB
	logs        map[string][]protocol.Event
	subscribed  map[string]bool
	commands    []protocol.Command
	made        int
	connections int
	answers     map[protocol.Verb]func(protocol.Command) (any, *protocol.Error)
}

const nativeEpoch = "epoch1"

func newNativeServer(t testing.TB) *nativeServer {
	return &nativeServer{
		t: t, logs: map[string][]protocol.Event{}, subscribed: map[string]bool{},
		answers: map[protocol.Verb]func(protocol.Command) (any, *protocol.Error){},
	}
}

// append appends events to a session and returns the lines for a subscriber.
func (p *nativeServer) append(session string, events ...protocol.Event) [][]byte {
	var lines [][]byte
	for _, e := range events {
		e.Session, e.Seq = session, uint64(len(p.logs[session])+1)
		if e.Time.IsZero() {
			e.Time = start.Add(time.Duration(e.Seq) * time.Second)
		}
		p.logs[session] = append(p.logs[session], e)
		if p.subscribed[session] {
			lines = append(lines, e.AppendJSON(nil))
		}
	}
	return lines
}

func event(typ protocol.Type, turn string, data any) protocol.Event {
	return protocol.Event{Type: typ, Turn: turn, Data: protocol.MustEncode(data)}
}

// handle answers one command.
func (p *nativeServer) handle(line []byte) [][]byte {
	p.t.Helper()
	c, err := protocol.DecodeCommand(line)
	if err != nil {
		p.t.Fatalf("the codec sent a bad command %s: %v", line, err)
	}
	data := protocol.CommandOf(c.Command).Data()
	if err := c.DecodeData(data); err != nil {
		p.t.Fatalf("the codec sent bad data %s: %v", line, err)
	}
	p.commands = append(p.commands, c)
	answer := func(result any) [][]byte {
		return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Result: protocol.MustEncode(result)})}
	}
	if do := p.answers[c.Command]; do != nil {
		result, fault := do(c)
		if fault != nil {
			return [][]byte{protocol.MustEncode(protocol.Answer{ID: c.ID, Error: fault})}
		}
		return answer(result)
	}
	if _, known := p.logs[c.Session]; !known && c.Session != "" {
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
		p.append(id, event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script", Title: d.Title}))
		return answer(protocol.CreateResult{Session: id, Position: protocol.Position{Epoch: nativeEpoch, Seq: 1}})
	case *protocol.RestoreData:
		p.made++
		id := fmt.Sprintf("s%d", p.made)
		p.append(id, event(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "script"}),
			event(protocol.StateRestored, "", protocol.StateRestoredData{Session: "s1"}))
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
			State: protocol.SignedState{Version: "1", State: []byte("{}"), Signature: "x"}, Expires: start,
		})
	}
	if c.Command == protocol.DoUnsubscribe {
		p.subscribed[c.Session] = false
	}
	return answer(protocol.Empty{})
}

func (p *nativeServer) subscribe(c protocol.Command, d *protocol.SubscribeData, answer func(any) [][]byte) [][]byte {
	log := p.logs[c.Session]
	p.subscribed[c.Session] = true
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
		Session: c.Session, Type: protocol.CaughtUp, Time: start,
		Data: protocol.MustEncode(protocol.CaughtUpData{Position: end}),
	}
	return append(lines, up.AppendJSON(nil))
}

// A serverTest is a server codec between a native server and a foreign client that the test plays.
type serverTest struct {
	t      testing.TB
	native *nativeServer
	codec  codec.Codec
	now    time.Time
	frames []message // received by the client and not yet checked
	raw    [][]byte
	out    codec.Output
}

func newServerTest(t testing.TB, p *nativeServer, store *codec.ResumeStore) *serverTest {
	return newServerTestWith(t, p, store, nil)
}

// newServerTestWith is newServerTest with options of the dialect.
func newServerTestWith(t testing.TB, p *nativeServer, store *codec.ResumeStore, options map[string]string) *serverTest {
	b := &serverTest{t: t, native: p, now: start}
	o := codec.ServerOptions{
		ID: sequentialIDs(), Agent: func(s string) string { return s }, Sign: sign, Version: "agentctl/test",
		Resume: store, Options: options,
	}
	if store != nil {
		p.connections++
		o.ID = func(prefix string) string { return fmt.Sprintf("%s%d", prefix, p.connections) }
	}
	b.codec = newServer(o)
	b.deliver(b.codec.Open(b.now))
	return b
}

func (b *serverTest) deliver(out codec.Output) {
	b.t.Helper()
	b.out = out
	for _, f := range out.Foreign {
		m, ok := decodeMessage(f.Data)
		if !ok {
			b.t.Fatalf("not a frame: %s", f.Data)
		}
		b.frames, b.raw = append(b.frames, m), append(b.raw, f.Data)
	}
	for _, line := range out.Native {
		for _, answer := range b.native.handle(line) {
			b.receiveNative(answer)
		}
	}
}

func (b *serverTest) receiveNative(lines ...[]byte) {
	b.t.Helper()
	for _, line := range lines {
		b.deliver(b.codec.Native(b.now, line))
	}
}

// receive delivers a frame of the client.
func (b *serverTest) receive(frame string) {
	b.t.Helper()
	b.deliver(b.codec.Foreign(b.now, codec.Frame{Data: []byte(frame)}))
}

// wake advances the time.
func (b *serverTest) wake(d time.Duration) {
	b.now = b.now.Add(d)
	b.deliver(b.codec.Wake(b.now))
}

// nextFrame returns the next frame of one of the events, skipping others.
func (b *serverTest) nextFrame(events ...string) message {
	b.t.Helper()
	var seen []string
	for len(b.frames) > 0 {
		m := b.frames[0]
		b.frames, b.raw = b.frames[1:], b.raw[1:]
		if slices.Contains(events, string(m.Event)) {
			return m
		}
		seen = append(seen, string(m.Event))
	}
	b.t.Fatalf("no %s frame, got %s", events, strings.Join(seen, ", "))
	return message{}
}

// takeEvents returns the events of the unchecked frames and drops these.
func (b *serverTest) takeEvents() []string {
	var all []string
	for _, m := range b.frames {
		all = append(all, string(m.Event))
	}
	b.frames, b.raw = nil, nil
	return all
}

// lastCommand returns the newest command of a verb.
func (b *serverTest) lastCommand(verb protocol.Verb, data any) protocol.Command {
	b.t.Helper()
	for i := len(b.native.commands) - 1; i >= 0; i-- {
		if c := b.native.commands[i]; c.Command == verb {
			if data != nil && len(c.Data) > 0 {
				if err := json.Unmarshal(c.Data, data); err != nil {
					b.t.Fatal(err)
				}
			}
			return c
		}
	}
	b.t.Fatalf("no %s was sent", verb)
	return protocol.Command{}
}

// openedServer returns a serverTest whose client has created session s1.
func openedServer(t testing.TB) *serverTest {
	b := newServerTest(t, newNativeServer(t), nil)
	b.receive(`{"event":"user.create_session"}`)
	b.nextFrame(agentSessionCreated)
	return b
}

func metaOf(m message) fields { return parseObject(m.Metadata) }
