package effectiveagent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol/codec"

	"agentctl/protocol"
)

var start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// ids mints predictable ids.
func ids() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s%d", prefix, n) }
}

// A peer is a scripted native server with the session s1, called fix-ci, and the session s2.
type peer struct {
	t        testing.TB
	epoch    string
	states   map[string]*protocol.State
	logs     map[string][][]byte
	bounds   map[string]*protocol.State // at the last turn's end
	got      []protocol.Command
	followed map[string]bool
	refuse   map[protocol.Verb]*protocol.Error
	resets   bool // every subscribe: the log was replaced
}

func newPeer(t testing.TB) *peer {
	p := &peer{
		t: t, epoch: "9f3ac1", states: map[string]*protocol.State{}, logs: map[string][][]byte{}, followed: map[string]bool{},
		bounds: map[string]*protocol.State{}, refuse: map[protocol.Verb]*protocol.Error{},
	}
	for _, id := range []string{"s1", "s2"} {
		p.states[id], p.bounds[id] = &protocol.State{Session: id}, &protocol.State{Session: id}
	}
	return p
}

func (p *peer) take(line []byte) (lines [][]byte) {
	c, err := protocol.DecodeCommand(line)
	if err != nil {
		p.t.Fatalf("the codec sent %s: %v", line, err)
	}
	if err := c.DecodeData(protocol.CommandOf(c.Command).Data()); err != nil {
		p.t.Fatalf("the codec sent %s: %v", line, err)
	}
	p.got = append(p.got, c)
	answer := func(result any, e *protocol.Error) [][]byte {
		a := protocol.Answer{ID: c.ID, Error: e}
		if e == nil {
			a.Result = protocol.MustEncode(result)
		}
		return [][]byte{protocol.MustEncode(a)}
	}
	if e := p.refuse[c.Command]; e != nil {
		return answer(nil, e)
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
		return answer(protocol.SnapshotResult{Snapshot: protocol.Snapshot{Epoch: at.Epoch, State: st}, Clients: []protocol.Client{}}, nil)
	case protocol.DoSubscribe:
		p.followed[name] = true
		caught := protocol.Event{Session: name, Type: protocol.CaughtUp, Time: start, Data: protocol.MustEncode(protocol.CaughtUpData{Position: at})}
		mode := protocol.ModeResume
		if p.resets {
			mode, at.Epoch = protocol.ModeReset, "b20e77"
		}
		var d protocol.SubscribeData
		_ = c.DecodeData(&d)
		if d.Position == nil {
			from := protocol.Position{Epoch: p.epoch, Seq: p.bounds[name].Seq}
			lines = answer(protocol.SubscribeResult{
				Session: name, Mode: protocol.ModeSnapshot, After: from, Position: at, Snapshot: &protocol.Snapshot{Epoch: p.epoch, State: p.bounds[name]},
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

// happens makes the next event of a session.
func (p *peer) happens(session string, typ protocol.Type, turn string, data any) []byte {
	st := p.states[session]
	e := protocol.Event{
		Session: session, Seq: st.Seq + 1, Turn: turn, Type: typ, Time: start.Add(time.Duration(st.Seq) * time.Second),
		Data: protocol.MustEncode(data),
	}
	return p.event(&e)
}

func (p *peer) event(e *protocol.Event) []byte {
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
		p.bounds[e.Session] = bound
	}
	return line
}

// A host runs a codec at our server's end before a peer.
type host struct {
	*peer
	codec *server
	said  []string // to the foreign client
}

func newHost(t testing.TB) *host {
	h := &host{peer: newPeer(t)}
	h.codec = newServer(codec.ServerOptions{ID: ids(), By: protocol.Actor{Name: "effectiveagent@peer"}})
	h.take(h.codec.Open(start))
	return h
}

func (h *host) take(out codec.Output) {
	if out.Close != nil {
		h.t.Fatalf("the codec closes the connection: %v", out.Close)
	}
	for _, f := range out.Foreign {
		if f.Binary || !json.Valid(f.Data) {
			h.t.Fatalf("the codec said %q", f.Data)
		}
		h.said = append(h.said, string(f.Data))
	}
	for _, line := range out.Native {
		for _, answer := range h.peer.take(line) {
			h.take(h.codec.Native(start, answer))
		}
	}
}

// hears gives the codec what the foreign client says, and returns what that is told.
func (h *host) hears(frames ...string) []string {
	for _, f := range frames {
		h.take(h.codec.Foreign(start, codec.Frame{Data: []byte(f)}))
	}
	return h.flush()
}

// happen gives the codec an event of the server.
func (h *host) happen(session string, typ protocol.Type, turn string, data any) []string {
	line := h.happens(session, typ, turn, data)
	if h.followed[session] {
		h.take(h.codec.Native(start, line))
	}
	return h.flush()
}

func (h *host) flush() []string {
	said := h.said
	h.said = nil
	return said
}

// verbs lists what the codec asked the server for.
func (h *host) verbs() string {
	var list []string
	for _, c := range h.got {
		list = append(list, string(c.Command)+" "+c.Session)
	}
	return strings.Join(list, ", ")
}

// A guest runs a codec at our client's end.
type guest struct {
	t          testing.TB
	codec      *client
	now        time.Time
	wake       time.Time
	events     []protocol.Event
	answers    map[string]protocol.Answer
	said       []string // to the foreign server
	state      *protocol.State
	transcript *protocol.Transcript
	last       int
	mayClose   bool
}

// newKin is a guest at a server of our kind.
func newKin(t testing.TB, memory *codec.ClientState) *guest {
	g := newGuest(t, memory)
	g.codec.Options.PeerIsAgentctl = true
	return g
}

func newGuest(t testing.TB, memory *codec.ClientState) *guest {
	if memory == nil {
		memory = &codec.ClientState{}
	}
	g := &guest{t: t, now: start, answers: map[string]protocol.Answer{}, transcript: &protocol.Transcript{}}
	g.codec = newClient(codec.ClientOptions{ID: ids(), Name: "ada", Resume: memory})
	g.take(g.codec.Open(g.now))
	return g
}

func (g *guest) take(out codec.Output) {
	g.t.Helper()
	if out.Close != nil && !g.mayClose {
		g.t.Fatalf("the codec closes the connection: %v", out.Close)
	}
	g.wake = out.Wake
	for _, f := range out.Foreign {
		g.said = append(g.said, string(f.Data))
	}
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil || len(line) > protocol.MaxMessage {
			g.t.Fatalf("the codec said %.200q: %v", line, err)
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

// does gives the codec a command of our client and returns its id.
func (g *guest) does(verb protocol.Verb, session string, data any) string {
	g.t.Helper()
	g.last++
	c := protocol.Command{ID: fmt.Sprint(g.last), Command: verb, Session: session, Key: fmt.Sprintf("key-%d", g.last)}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	g.take(g.codec.Native(g.now, protocol.MustEncode(c)))
	return c.ID
}

// hears gives the codec what the foreign server says.
func (g *guest) hears(frames ...string) {
	g.t.Helper()
	for _, f := range frames {
		g.take(g.codec.Foreign(g.now, codec.Frame{Data: []byte(f)}))
	}
}

// waits lets time pass.
func (g *guest) waits(d time.Duration) {
	g.t.Helper()
	for end := g.now.Add(d); ; {
		if g.wake.IsZero() || g.wake.After(end) {
			g.now = end
			return
		}
		g.now = g.wake
		g.take(g.codec.Wake(g.now))
	}
}

// story tells the events so far, and forgets them.
func (g *guest) story() string {
	var list []string
	for _, e := range g.events {
		list = append(list, string(e.Type))
	}
	g.events = nil
	return strings.Join(list, " ")
}

func (g *guest) result(id string, into any) {
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
func (g *guest) code(id string) protocol.Code {
	if e := g.answers[id].Error; e != nil {
		return e.Code
	}
	return ""
}

func (g *guest) flush() []string {
	said := g.said
	g.said = nil
	return said
}
