package agentloop

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A clientHarness runs a client codec, with a client's view of the session.
type clientHarness struct {
	t            tester
	codec        *client
	now          time.Time
	wake         time.Time
	commandCount int
	answers      map[string]*protocol.Answer
	events       []protocol.Event
	state        *protocol.State
	transcript   protocol.Transcript
	sent         []message
}

// newClientHarness returns a client at a server that is not agentctl's.
func newClientHarness(t tester, url string, memory *codec.ClientState) *clientHarness {
	return resumeClientHarness(t, codec.ClientOptions{URL: url, Resume: memory}, nil)
}

// newAgentctlHarness returns a client at agentctl's server.
func newAgentctlHarness(t tester, memory *codec.ClientState) *clientHarness {
	return resumeClientHarness(t, agentctlOptions(memory), nil)
}

func agentctlOptions(memory *codec.ClientState) codec.ClientOptions {
	return codec.ClientOptions{URL: "ws://x", Resume: memory, PeerIsAgentctl: true}
}

// resumeClientHarness returns a client with a position (nil: none), at a server that sends frames
// at once.
func resumeClientHarness(t tester, o codec.ClientOptions, at *protocol.Position, frames ...string) *clientHarness {
	mint := ids()
	o.Name, o.ID = "ada", func(prefix string) string { return mint(prefix) }
	if at != nil {
		o.ID = func(prefix string) string { return mint(prefix) + "again" }
	}
	g := &clientHarness{t: t, now: epochStart, answers: map[string]*protocol.Answer{}, codec: newClient(o)}
	g.handleOutput(g.codec.Open(g.now))
	g.send(protocol.DoHello, protocol.HelloData{Version: protocol.Version, Name: "ada"})
	g.send(protocol.DoSubscribe, protocol.SubscribeData{Position: at})
	g.receive(frames...)
	g.advance(quietTimeout)
	if g.answer() == nil { // it waits for the interrupted turn
		g.advance(resumeTimeout)
	}
	a := g.answer()
	var r protocol.SubscribeResult
	if a == nil || a.Error != nil || json.Unmarshal(a.Result, &r) != nil {
		t.Fatalf("subscribe: %+v", a)
	}
	return g
}

func (g *clientHarness) handleOutput(out codec.Output) {
	g.t.Helper()
	g.wake = out.Wake
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			g.t.Fatalf("%v: %s", err, line)
		}
		if a != nil {
			g.answers[a.ID] = a
			var r protocol.SubscribeResult
			if json.Unmarshal(a.Result, &r) == nil && r.Snapshot != nil && r.Mode != "" {
				g.state = r.Snapshot.State
			}
			continue
		}
		if err := g.state.Apply(e); err != nil {
			g.t.Fatalf("%v: %s", err, line)
		}
		if _, err := g.transcript.Apply(e); err != nil {
			g.t.Fatalf("%v: %s", err, line)
		}
		if len(line) > protocol.MaxEvent {
			g.t.Fatalf("an event of %d bytes", len(line))
		}
		g.events = append(g.events, *e)
	}
	for _, f := range out.Foreign {
		m, ok := decodeMessage(f)
		if !ok {
			g.t.Fatalf("not a message: %s", f.Data)
		}
		g.sent = append(g.sent, m)
	}
}

func (g *clientHarness) send(verb protocol.Verb, data any) *protocol.Answer {
	return g.sendKeyed(verb, "", data)
}

func (g *clientHarness) sendKeyed(verb protocol.Verb, key string, data any) *protocol.Answer {
	g.t.Helper()
	g.commandCount++
	c := protocol.Command{ID: fmt.Sprint(g.commandCount), Command: verb, Key: key}
	if t := protocol.CommandOf(verb); t.Session {
		c.Session = g.codec.log.Session
	}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	g.handleOutput(g.codec.Native(g.now, protocol.MustEncode(c)))
	return g.answers[c.ID]
}

// answer returns the answer to the newest command.
func (g *clientHarness) answer() *protocol.Answer { return g.answers[fmt.Sprint(g.commandCount)] }

func (g *clientHarness) receive(frames ...string) {
	g.t.Helper()
	for _, f := range frames {
		g.handleOutput(g.codec.Foreign(g.now, codec.Frame{Data: []byte(f)}))
	}
}

func (g *clientHarness) advance(d time.Duration) {
	g.now = g.now.Add(d)
	g.handleOutput(g.codec.Wake(g.now))
}

func (g *clientHarness) types() (list []protocol.Type) {
	for _, e := range g.events {
		if e.Durable() && e.Type != protocol.SessionCreated {
			list = append(list, e.Type)
		}
	}
	return list
}

func (g *clientHarness) expectTypes(want ...protocol.Type) {
	g.t.Helper()
	if got := g.types(); !slices.Equal(got, want) {
		g.t.Fatalf("events\n  %v\nwant\n  %v", got, want)
	}
}

// find returns the data of the newest event of a type.
func find[T any](g *clientHarness, typ protocol.Type) (d T) {
	g.t.Helper()
	for _, e := range slices.Backward(g.events) {
		if e.Type == typ {
			if err := e.Decode(&d); err != nil {
				g.t.Fatal(err)
			}
			return d
		}
	}
	g.t.Fatalf("no %s", typ)
	return d
}

func resultOf[T any](g *clientHarness) (r T) {
	g.t.Helper()
	a := g.answer()
	if a == nil || a.Error != nil {
		g.t.Fatalf("answer %+v", a)
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		g.t.Fatal(err)
	}
	return r
}

func (g *clientHarness) code() protocol.Code {
	a := g.answer()
	if a == nil || a.Error == nil {
		return ""
	}
	return a.Error.Code
}

func loads(on bool) string {
	return fmt.Sprintf(`{"id":"l","type":"loading_state","payload":{"loading":%v}}`, on)
}

func response(item string) string { return `{"id":"r","type":"response_item","payload":` + item + `}` }

const (
	finished = `{"id":"f","type":"agent_finished","payload":{"responseId":""}}`
	request  = `{"id":"q","type":"approval_request","payload":{"command":["rm","-rf","x y"]}}`
)
