package multiagenttest

import (
	"slices"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A Client is a client of a server that the test plays.
type Client struct {
	codectest.Client
	Resume     *codec.ClientState
	options    map[string]string
	NewID      func(string) string
	atAgentctl bool // the server is agentctl's
	newCodec   func(codec.ClientOptions) codec.Codec
	Frames     [][]byte // sent to the foreign server and not yet checked
	Silent     bool     // nothing answers the client's messages and the PINGs after them
}

// NewClient returns a client with a connection to a server that the test plays. agentctl means
// that the server is agentctl's.
func NewClient(
	t codectest.T, newCodec func(codec.ClientOptions) codec.Codec, agentctl bool, options map[string]string,
) *Client {
	c := &Client{
		Client: codectest.NewClient(t), newCodec: newCodec, Resume: new(codec.ClientState), options: options,
		NewID: codectest.IDs(), atAgentctl: agentctl,
	}
	c.Foreign = c.send
	c.Connect()
	return c
}

// Connect opens a connection.
func (c *Client) Connect() {
	before := len(c.Frames)
	c.Open(c.newCodec(codec.ClientOptions{
		Name: "ada", ID: c.NewID, Options: c.options, Resume: c.Resume, PeerIsAgentctl: c.atAgentctl,
	}))
	if got := c.Frames[before:]; len(got) == 0 || string(got[0]) != `{"type":"PING"}` {
		c.T.Fatalf("%s: no PING", got)
	}
	c.Frames = slices.Delete(c.Frames, before, before+1)
	c.Receive(`{"type":"PONG"}`)
}

// send takes the frames of an output. It plays a server that confirms each message, unless Silent.
func (c *Client) send(out codec.Output) {
	c.T.Helper()
	afterSend, confirmations := false, []string(nil)
	for _, f := range checkedFrames(c.T, out) {
		if m := wire.DecodeMessage(f); afterSend && m.Type() == wire.TypePing {
			confirmations = append(confirmations, `{"type":"PONG"}`)
		} else {
			c.Frames = append(c.Frames, f)
			if key := m.Key(); key != "" {
				confirmations = append(confirmations, AnswerTo(key, "{}"))
			}
		}
		afterSend = wire.DecodeMessage(f).Type() == wire.TypeSend
	}
	if !c.Silent {
		c.Receive(confirmations...)
	}
}

// Command sends a command and returns its id.
func (c *Client) Command(verb protocol.Verb, session string, data any) string {
	c.T.Helper()
	return c.Do(verb, session, "", data)
}

// Pending returns the number of commands without an answer.
func (c *Client) Pending() int { return c.CommandCount - len(c.Answers) }

// Summaries returns the summaries of sessions that were published.
func (c *Client) Summaries() (list []protocol.Summary) {
	for i := range c.Ephemeral {
		if e := &c.Ephemeral[i]; e.Type == protocol.SummaryChanged {
			var s protocol.Summary
			_ = e.Decode(&s)
			list = append(list, s)
		}
	}
	return list
}

// WantSent checks the frames sent since the last check.
func (c *Client) WantSent(frames ...string) {
	c.T.Helper()
	wantFrames(c.T, c.Frames, frames)
	c.Frames = nil
}

// Advance advances the time to the codec's next wake.
func (c *Client) Advance() {
	c.T.Helper()
	if c.Wake.IsZero() {
		c.T.Fatal("no wake is scheduled")
	}
	c.Client.Advance(c.Wake.Sub(c.Now))
}

// Subscribe subscribes to the conversation.
func (c *Client) Subscribe() {
	c.T.Helper()
	if codectest.Result[protocol.SubscribeResult](&c.Client, c.Command(protocol.DoSubscribe, "uuid", nil)) == nil {
		c.T.Fatal("subscribe has no answer")
	}
	if len(c.Frames) > 0 {
		c.WantSent(`{"type":"PING","conversationId":"uuid"}`)
		if !c.atAgentctl {
			c.Receive(`{"type":"PONG"}`)
		}
	}
}

// Send sends a message and waits until it counts as accepted.
func (c *Client) Send(text string) {
	c.T.Helper()
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	c.Frames = nil
	if c.Answers[id] == nil {
		c.Advance()
	}
	if r := codectest.Result[protocol.SendResult](&c.Client, id); r == nil || r.Status != protocol.SendStarted {
		c.T.Fatalf("send: %v", c.Answers[id])
	}
}

// Text returns all text of the agent.
func (c *Client) Text() (all string) {
	for _, turn := range c.Transcript.Turns {
		for _, it := range turn.Items {
			if it.Kind == protocol.ItemText {
				all += it.Text.String()
			}
		}
	}
	return all
}
