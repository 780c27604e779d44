package agentlooptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A Client runs a client codec, with a client's view of the session.
type Client struct {
	t            Tester
	Codec        codec.Codec
	session      string // that the URL names
	Now          time.Time
	Wake         time.Time
	CommandCount int
	Answers      map[string]*protocol.Answer
	Events       []protocol.Event
	State        *protocol.State
	Transcript   protocol.Transcript
	Sent         []wire.Message
}

// A clientCodec makes the codec of a connection.
type clientCodec = func(codec.ClientOptions) codec.Codec

// NewClient returns a client at a server that is not agentctl's.
func NewClient(t Tester, newCodec clientCodec, url string, memory *codec.ClientState) *Client {
	return NewResumedClient(t, newCodec, codec.ClientOptions{URL: url, Resume: memory}, nil)
}

// NewAgentctlClient returns a client at agentctl's server.
func NewAgentctlClient(t Tester, newCodec clientCodec, memory *codec.ClientState) *Client {
	return NewResumedClient(t, newCodec, AgentctlOptions(memory), nil)
}

// AgentctlOptions are those of a client at agentctl's server.
func AgentctlOptions(memory *codec.ClientState) codec.ClientOptions {
	return codec.ClientOptions{URL: "ws://x", Resume: memory, PeerIsAgentctl: true}
}

// Dial returns a client that has sent nothing. The default of o.ID is predictable ids.
func Dial(t Tester, newCodec clientCodec, o codec.ClientOptions) *Client {
	if o.Name = "ada"; o.ID == nil {
		o.ID = Ids()
	}
	g := &Client{
		t: t, Now: Start, Answers: map[string]*protocol.Answer{}, Codec: newCodec(o), session: wire.SessionOfURL(o.URL),
	}
	g.Deliver(g.Codec.Open(g.Now))
	return g
}

// NewResumedClient returns a client with a position (nil: none), at a server that sends frames after
// the opening.
func NewResumedClient(
	t Tester, newCodec clientCodec, o codec.ClientOptions, at *protocol.Position, frames ...string,
) *Client {
	mint := Ids()
	o.ID = mint
	if at != nil {
		o.ID = func(prefix string) string { return mint(prefix) + "again" }
	}
	g := Dial(t, newCodec, o)
	g.Send(protocol.DoHello, protocol.HelloData{Version: protocol.Version, Name: "ada"})
	g.Send(protocol.DoSubscribe, protocol.SubscribeData{Position: at})
	g.Receive(frames...)
	g.Advance(250 * time.Millisecond) // for messages of the current turn
	if g.Answer() == nil {            // it waits for the interrupted turn
		g.Advance(2 * time.Second)
	}
	a := g.Answer()
	var r protocol.SubscribeResult
	if a == nil || a.Error != nil || json.Unmarshal(a.Result, &r) != nil {
		t.Fatalf("subscribe: %+v", a)
	}
	return g
}

// Deliver takes the output of the codec.
func (g *Client) Deliver(out codec.Output) {
	g.t.Helper()
	g.Wake = out.Wake
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			g.t.Fatalf("%v: %s", err, line)
		}
		if a != nil {
			g.Answers[a.ID] = a
			var r protocol.SubscribeResult
			if json.Unmarshal(a.Result, &r) == nil && r.Snapshot != nil && r.Mode != "" {
				g.State = r.Snapshot.State
			}
			continue
		}
		if err := g.State.Apply(e); err != nil {
			g.t.Fatalf("%v: %s", err, line)
		}
		if _, err := g.Transcript.Apply(e); err != nil {
			g.t.Fatalf("%v: %s", err, line)
		}
		if len(line) > protocol.MaxEvent {
			g.t.Fatalf("an event of %d bytes", len(line))
		}
		g.Events = append(g.Events, *e)
	}
	for _, f := range out.Foreign {
		m, ok := wire.DecodeMessage(f)
		if !ok {
			g.t.Fatalf("not a message: %s", f.Data)
		}
		g.Sent = append(g.Sent, m)
	}
}

// Send sends a command and returns its answer, or nil.
func (g *Client) Send(verb protocol.Verb, data any) *protocol.Answer {
	return g.SendKeyed(verb, "", data)
}

// SendKeyed is Send with a key.
func (g *Client) SendKeyed(verb protocol.Verb, key string, data any) *protocol.Answer {
	g.t.Helper()
	g.CommandCount++
	c := protocol.Command{ID: fmt.Sprint(g.CommandCount), Command: verb, Key: key}
	if t := protocol.CommandOf(verb); t.Session {
		c.Session = g.session
	}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	g.Deliver(g.Codec.Native(g.Now, protocol.MustEncode(c)))
	return g.Answers[c.ID]
}

// Answer returns the answer to the newest command.
func (g *Client) Answer() *protocol.Answer { return g.Answers[fmt.Sprint(g.CommandCount)] }

// Receive delivers frames of the server.
func (g *Client) Receive(frames ...string) {
	g.t.Helper()
	for _, f := range frames {
		g.Deliver(g.Codec.Foreign(g.Now, codec.Frame{Data: []byte(f)}))
	}
}

// Advance lets time pass.
func (g *Client) Advance(d time.Duration) {
	g.Now = g.Now.Add(d)
	g.Deliver(g.Codec.Wake(g.Now))
}

// Types returns the types of the durable events after the session's creation.
func (g *Client) Types() (list []protocol.Type) {
	for _, e := range g.Events {
		if e.Durable() && e.Type != protocol.SessionCreated {
			list = append(list, e.Type)
		}
	}
	return list
}

// ExpectTypes checks Types.
func (g *Client) ExpectTypes(want ...protocol.Type) {
	g.t.Helper()
	if got := g.Types(); !slices.Equal(got, want) {
		g.t.Fatalf("events\n  %v\nwant\n  %v", got, want)
	}
}

// Find returns the data of the newest event of a type.
func Find[T any](g *Client, typ protocol.Type) (d T) {
	g.t.Helper()
	for _, e := range slices.Backward(g.Events) {
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

// ResultOf returns the result of the newest command.
func ResultOf[T any](g *Client) (r T) {
	g.t.Helper()
	a := g.Answer()
	if a == nil || a.Error != nil {
		g.t.Fatalf("answer %+v", a)
	}
	if err := json.Unmarshal(a.Result, &r); err != nil {
		g.t.Fatal(err)
	}
	return r
}

// Code returns the code of the newest command's error, or "" if it has not failed.
func (g *Client) Code() protocol.Code {
	a := g.Answer()
	if a == nil || a.Error == nil {
		return ""
	}
	return a.Error.Code
}

// Loads returns a loading_state.
func Loads(on bool) string {
	return fmt.Sprintf(`{"id":"l","type":"loading_state","payload":{"loading":%v}}`, on)
}

// Response returns a response_item.
func Response(item string) string { return `{"id":"r","type":"response_item","payload":` + item + `}` }

// Messages of the server.
const (
	Finished = `{"id":"f","type":"agent_finished","payload":{"responseId":""}}`
	Request  = `{"id":"q","type":"approval_request","payload":{"command":["rm","-rf","x y"]}}`
)
