package agentlooptest

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// A Client is a client of one session of a server that the test plays.
type Client struct {
	codectest.Client
	session string // that the URL names
	Sent    []wire.Message
}

// A clientCodec makes the codec of a connection.
type clientCodec = func(codec.ClientOptions) codec.Codec

// NewClient returns a client at a server that is not agentctl's.
func NewClient(t codectest.T, newCodec clientCodec, url string, memory *codec.ClientState) *Client {
	return NewResumedClient(t, newCodec, codec.ClientOptions{URL: url, Resume: memory}, nil)
}

// NewAgentctlClient returns a client at agentctl's server.
func NewAgentctlClient(t codectest.T, newCodec clientCodec, memory *codec.ClientState) *Client {
	return NewResumedClient(t, newCodec, AgentctlOptions(memory), nil)
}

// AgentctlOptions returns the options of a client at agentctl's server.
func AgentctlOptions(memory *codec.ClientState) codec.ClientOptions {
	return codec.ClientOptions{URL: "ws://x", Resume: memory, PeerIsAgentctl: true}
}

// Dial returns a client that has sent nothing. The default of o.ID is predictable ids.
func Dial(t codectest.T, newCodec clientCodec, o codec.ClientOptions) *Client {
	if o.Name = "ada"; o.ID == nil {
		o.ID = codectest.IDs()
	}
	g := &Client{Client: codectest.NewClient(t), session: wire.SessionOfURL(o.URL)}
	g.Foreign = func(out codec.Output) { g.Sent = append(g.Sent, decoded(t, out)...) }
	g.Open(newCodec(o))
	return g
}

// decoded returns the messages of an output.
func decoded(t codectest.T, out codec.Output) (list []wire.Message) {
	for _, f := range out.Foreign {
		m, ok := wire.DecodeMessage(f)
		if !ok {
			t.Fatalf("not a message: %s", f.Data)
		}
		list = append(list, m)
	}
	return list
}

// NewResumedClient returns a client with a position (nil: none), at a server that sends frames after
// the opening.
func NewResumedClient(
	t codectest.T, newCodec clientCodec, o codec.ClientOptions, at *protocol.Position, frames ...string,
) *Client {
	mint := codectest.IDs()
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
	ResultOf[protocol.SubscribeResult](g)
	return g
}

// Send sends a command and returns its answer, or nil.
func (g *Client) Send(verb protocol.Verb, data any) *protocol.Answer {
	return g.SendKeyed(verb, "", data)
}

// SendKeyed is Send with a key.
func (g *Client) SendKeyed(verb protocol.Verb, key string, data any) *protocol.Answer {
	g.T.Helper()
	session := ""
	if protocol.CommandOf(verb).Session {
		session = g.session
	}
	return g.Answers[g.Do(verb, session, key, data)]
}

// Types returns the types of the durable events after the session's creation.
func (g *Client) Types() (list []protocol.Type) {
	for _, e := range g.Events {
		if e.Type != protocol.SessionCreated {
			list = append(list, e.Type)
		}
	}
	return list
}

// ExpectTypes checks Types.
func (g *Client) ExpectTypes(want ...protocol.Type) {
	g.T.Helper()
	if got := g.Types(); !slices.Equal(got, want) {
		g.T.Fatalf("events\n  %v\nwant\n  %v", got, want)
	}
}

// Find returns the data of the newest event of a type.
func Find[T any](g *Client, typ protocol.Type) (d T) {
	g.T.Helper()
	for _, e := range slices.Backward(slices.Concat(g.Events, g.Ephemeral)) {
		if e.Type == typ {
			if err := e.Decode(&d); err != nil {
				g.T.Fatal(err)
			}
			return d
		}
	}
	g.T.Fatalf("no %s", typ)
	return d
}

// ResultOf returns the result of the newest command, which must exist.
func ResultOf[T any](g *Client) T {
	g.T.Helper()
	r := codectest.Result[T](&g.Client, strconv.Itoa(g.CommandCount))
	if r == nil {
		g.T.Fatal("no answer")
	}
	return *r
}

// Code returns the code of the newest command's error, or "" if it has not failed.
func (g *Client) Code() protocol.Code { return g.ErrorCode(strconv.Itoa(g.CommandCount)) }

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
