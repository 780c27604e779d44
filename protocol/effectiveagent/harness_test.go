package effectiveagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// ids returns a generator of predictable ids.
func ids() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s%d", prefix, n) }
}

// A fakeServer is a scripted native server with the session s1, called fix-ci, and the session s2.
type fakeServer struct {
	t          testing.TB
	epoch      string
	states     map[string]*protocol.State
	logs       map[string][][]byte
	boundaries map[string]*protocol.State // at the last turn's end
	commands   []protocol.Command
	followed   map[string]bool
	errors     map[protocol.Verb]*protocol.Error
	results    map[protocol.Verb]any  // of the verbs that have one
	silent     map[protocol.Verb]bool // verbs without an answer
	resets     bool                   // every subscribe gets a reset
}

func newFakeServer(t testing.TB) *fakeServer {
	p := &fakeServer{
		t: t, epoch: "9f3ac1", states: map[string]*protocol.State{}, logs: map[string][][]byte{},
		followed:   map[string]bool{},
		boundaries: map[string]*protocol.State{}, errors: map[protocol.Verb]*protocol.Error{},
		results: map[protocol.Verb]any{}, silent: map[protocol.Verb]bool{},
	}
	for _, id := range []string{"s1", "s2"} {
		p.states[id], p.boundaries[id] = &protocol.State{Session: id}, &protocol.State{Session: id}
	}
	return p
}

func (p *fakeServer) handleLine(line []byte) (lines [][]byte) {
	c, err := protocol.DecodeCommand(line)
	if err != nil {
		p.t.Fatalf("the codec sent %s: %v", line, err)
	}
	if err := c.DecodeData(protocol.CommandOf(c.Command).Data()); err != nil {
		p.t.Fatalf("the codec sent %s: %v", line, err)
	}
	p.commands = append(p.commands, c)
	answer := func(result any, e *protocol.Error) [][]byte {
		a := protocol.Answer{ID: c.ID, Error: e}
		if e == nil {
			a.Result = protocol.MustEncode(result)
		}
		return [][]byte{protocol.MustEncode(a)}
	}
	if e := p.errors[c.Command]; e != nil {
		return answer(nil, e)
	}
	if p.silent[c.Command] {
		return nil
	}
	if r := p.results[c.Command]; r != nil {
		return answer(r, nil)
	}
	if c.Command == protocol.DoHello {
		return answer(protocol.HelloResult{Version: protocol.Version, Connection: "c1"}, nil)
	}
	name := c.Session
	if name == "fix-ci" {
		name = "s1"
	}
	st := p.states[name]
	if st == nil {
		return answer(nil, protocol.Errorf(protocol.CodeNoSession, "no session is called %q", c.Session))
	}
	at := protocol.Position{Epoch: p.epoch, Seq: st.Seq}
	switch c.Command {
	case protocol.DoSnapshot:
		return answer(protocol.SnapshotResult{
			Snapshot: protocol.Snapshot{Epoch: at.Epoch, State: st},
			Clients:  []protocol.Client{},
		}, nil)
	case protocol.DoSubscribe:
		p.followed[name] = true
		caught := protocol.Event{
			Session: name, Type: protocol.CaughtUp, Time: start,
			Data: protocol.MustEncode(protocol.CaughtUpData{Position: at}),
		}
		mode := protocol.ModeResume
		if p.resets {
			mode, at.Epoch = protocol.ModeReset, "b20e77"
		}
		var d protocol.SubscribeData
		_ = c.DecodeData(&d)
		if d.Position == nil {
			from := protocol.Position{Epoch: p.epoch, Seq: p.boundaries[name].Seq}
			lines = answer(protocol.SubscribeResult{
				Session: name, Mode: protocol.ModeSnapshot, After: from, Position: at,
				Snapshot: &protocol.Snapshot{Epoch: p.epoch, State: p.boundaries[name]},
			}, nil)
			return append(append(lines, p.logs[name][from.Seq:]...), caught.AppendJSON(nil))
		}
		lines = answer(protocol.SubscribeResult{Session: name, Mode: mode, After: at, Position: at}, nil)
		if mode == protocol.ModeResume {
			lines = append(lines, p.logs[name][d.Position.Seq:]...)
		}
		return append(lines, caught.AppendJSON(nil))
	case protocol.DoUnsubscribe:
		delete(p.followed, name)
	}
	return answer(protocol.Empty{}, nil)
}

// newEvent returns the next event of a session.
func (p *fakeServer) newEvent(session string, typ protocol.Type, turn string, data any) []byte {
	st := p.states[session]
	e := protocol.Event{
		Session: session, Seq: st.Seq + 1, Turn: turn, Type: typ, Time: start.Add(time.Duration(st.Seq) * time.Second),
		Data: protocol.MustEncode(data),
	}
	return p.record(&e)
}

func (p *fakeServer) record(e *protocol.Event) []byte {
	if err := p.states[e.Session].Apply(e); err != nil {
		p.t.Fatal(err)
	}
	line := e.AppendJSON(nil)
	p.logs[e.Session] = append(p.logs[e.Session], line)
	if e.Type == protocol.TurnEnded {
		bound := new(protocol.State)
		if err := json.Unmarshal(protocol.MustEncode(p.states[e.Session]), bound); err != nil {
			p.t.Fatal(err)
		}
		p.boundaries[e.Session] = bound
	}
	return line
}

// A serverHarness runs a server codec in front of a fakeServer.
type serverHarness struct {
	*fakeServer
	codec *server
	sent  []string // to the foreign client
}

func newServerHarness(t testing.TB) *serverHarness {
	h := &serverHarness{fakeServer: newFakeServer(t)}
	h.codec = newServer(codec.ServerOptions{ID: ids(), By: protocol.Actor{Name: "effectiveagent@peer"}})
	h.handleOutput(h.codec.Open(start))
	return h
}

func (h *serverHarness) handleOutput(out codec.Output) {
	if out.Close != nil {
		h.t.Fatalf("the codec closes the connection: %v", out.Close)
	}
	for _, f := range out.Foreign {
		if f.Binary || !json.Valid(f.Data) {
			h.t.Fatalf("the codec sent %q", f.Data)
		}
		h.sent = append(h.sent, string(f.Data))
	}
	for _, line := range out.Native {
		for _, answer := range h.fakeServer.handleLine(line) {
			h.handleOutput(h.codec.Native(start, answer))
		}
	}
}

// receive passes frames of the foreign client to the codec and returns its output.
func (h *serverHarness) receive(frames ...string) []string {
	for _, f := range frames {
		h.handleOutput(h.codec.Foreign(start, codec.Frame{Data: []byte(f)}))
	}
	return h.flush()
}

// publish passes an event of the server to the codec.
func (h *serverHarness) publish(session string, typ protocol.Type, turn string, data any) []string {
	line := h.newEvent(session, typ, turn, data)
	if h.followed[session] {
		h.handleOutput(h.codec.Native(start, line))
	}
	return h.flush()
}

func (h *serverHarness) flush() []string {
	sent := h.sent
	h.sent = nil
	return sent
}

// verbs lists the codec's commands to the server.
func (h *serverHarness) verbs() string {
	var list []string
	for _, c := range h.commands {
		list = append(list, string(c.Command)+" "+c.Session)
	}
	return strings.Join(list, ", ")
}

// A clientHarness runs a client codec.
type clientHarness struct {
	t          testing.TB
	codec      *client
	now        time.Time
	wake       time.Time
	events     []protocol.Event
	answers    map[string]protocol.Answer
	sent       []string // to the foreign server
	state      *protocol.State
	transcript *protocol.Transcript
	last       int
	mayClose   bool
}

// newAgentctlClientHarness returns a client at agentctl's server.
func newAgentctlClientHarness(t testing.TB, memory *codec.ClientState) *clientHarness {
	g := newClientHarness(t, memory)
	g.codec.Options.PeerIsAgentctl = true
	return g
}

func newClientHarness(t testing.TB, memory *codec.ClientState) *clientHarness {
	if memory == nil {
		memory = &codec.ClientState{}
	}
	g := &clientHarness{t: t, now: start, answers: map[string]protocol.Answer{}, transcript: &protocol.Transcript{}}
	g.codec = newClient(codec.ClientOptions{ID: ids(), Name: "ada", Resume: memory})
	g.handleOutput(g.codec.Open(g.now))
	return g
}

func (g *clientHarness) handleOutput(out codec.Output) {
	g.t.Helper()
	if out.Close != nil && !g.mayClose {
		g.t.Fatalf("the codec closes the connection: %v", out.Close)
	}
	g.wake = out.Wake
	for _, f := range out.Foreign {
		g.sent = append(g.sent, string(f.Data))
	}
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil || len(line) > protocol.MaxMessage {
			g.t.Fatalf("the codec sent %.200q: %v", line, err)
		}
		if a != nil {
			g.answers[a.ID] = *a
			var r protocol.SubscribeResult
			if json.Unmarshal(a.Result, &r) == nil && r.Snapshot != nil && r.Mode != "" {
				g.state = r.Snapshot.State
			}
			continue
		}
		g.events = append(g.events, *e)
		if g.state == nil || e.Session != g.state.Session {
			continue
		}
		if err := g.state.Apply(e); err != nil {
			g.t.Fatalf("fold %s: %v", line, err)
		}
		if _, err := g.transcript.Apply(e); err != nil {
			g.t.Fatalf("fold %s: %v", line, err)
		}
	}
}

// send passes a command to the codec and returns its id.
func (g *clientHarness) send(verb protocol.Verb, session string, data any) string {
	g.t.Helper()
	g.last++
	c := protocol.Command{ID: fmt.Sprint(g.last), Command: verb, Session: session, Key: fmt.Sprintf("key-%d", g.last)}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	g.handleOutput(g.codec.Native(g.now, protocol.MustEncode(c)))
	return c.ID
}

// receive passes frames of the foreign server to the codec.
func (g *clientHarness) receive(frames ...string) {
	g.t.Helper()
	for _, f := range frames {
		g.handleOutput(g.codec.Foreign(g.now, codec.Frame{Data: []byte(f)}))
	}
}

// advance lets time pass.
func (g *clientHarness) advance(d time.Duration) {
	g.t.Helper()
	for end := g.now.Add(d); ; {
		if g.wake.IsZero() || g.wake.After(end) {
			g.now = end
			return
		}
		g.now = g.wake
		g.handleOutput(g.codec.Wake(g.now))
	}
}

// eventTypes returns the types of the events since the last call.
func (g *clientHarness) eventTypes() string {
	var list []string
	for _, e := range g.events {
		list = append(list, string(e.Type))
	}
	g.events = nil
	return strings.Join(list, " ")
}

func (g *clientHarness) result(id string, into any) {
	g.t.Helper()
	a, ok := g.answers[id]
	if !ok || a.Error != nil {
		g.t.Fatalf("command %s: answered %v, error %v", id, ok, a.Error)
	}
	if err := json.Unmarshal(a.Result, into); err != nil {
		g.t.Fatal(err)
	}
}

// code returns the error code of a command; empty: none yet.
func (g *clientHarness) code(id string) protocol.Code {
	if e := g.answers[id].Error; e != nil {
		return e.Code
	}
	return ""
}

func (g *clientHarness) flush() []string {
	sent := g.sent
	g.sent = nil
	return sent
}
