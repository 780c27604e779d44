package multiagenttest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A Client is a client above its codec. It subscribes to one session, applies its events and
// keeps answers.
type Client struct {
	t          TestingT
	Resume     *codec.ClientState
	options    map[string]string
	NewID      func(string) string
	atAgentctl bool // the server is agentctl's
	newCodec   func(codec.ClientOptions) codec.Codec
	Codec      codec.Codec
	Now        time.Time
	Wake       time.Time
	lastID     int
	Answers    map[string]*protocol.Answer
	Frames     [][]byte // sent to the foreign server and not yet checked
	State      *protocol.State
	Epoch      string
	Transcript *protocol.Transcript
	Events     []*protocol.Event
	Summaries  []protocol.Summary
	Silent     bool // nothing answers the client's messages and the PINGs after them
}

// NewClient returns a client with a connection to a server that the test plays. agentctl means
// that the server is agentctl's.
func NewClient(
	t TestingT, newCodec func(codec.ClientOptions) codec.Codec, agentctl bool, options map[string]string,
) *Client {
	c := &Client{
		t: t, newCodec: newCodec, Resume: new(codec.ClientState), options: options, NewID: sequentialIDs("c"), Now: Start,
		Answers: map[string]*protocol.Answer{}, atAgentctl: agentctl,
	}
	c.Connect()
	return c
}

// Connect opens a connection.
func (c *Client) Connect() {
	c.Codec = c.newCodec(codec.ClientOptions{
		Name: "ada", ID: c.NewID, Options: c.options, Resume: c.Resume, PeerIsAgentctl: c.atAgentctl,
	})
	before := len(c.Frames)
	c.Deliver(c.Codec.Open(c.Now))
	if got := c.Frames[before:]; len(got) == 0 || string(got[0]) != `{"type":"PING"}` {
		c.t.Fatalf("%s: no PING", got)
	}
	c.Frames = slices.Delete(c.Frames, before, before+1)
	c.Receive(`{"type":"PONG"}`)
}

// Deliver takes the codec's output. It plays a server that confirms each message, unless Silent.
func (c *Client) Deliver(out codec.Output) {
	c.t.Helper()
	if out.Close != nil {
		c.t.Fatalf("the codec closed the connection: %v", out.Close)
	}
	c.Wake = out.Wake
	afterSend, confirmations := false, []string(nil)
	for _, f := range out.Foreign {
		if !json.Valid(f.Data) || f.Binary {
			c.t.Fatalf("not JSON: %s", f.Data)
		}
		if m := wire.DecodeMessage(f.Data); afterSend && m.Type() == wire.TypePing {
			confirmations = append(confirmations, `{"type":"PONG"}`)
		} else {
			c.Frames = append(c.Frames, f.Data)
			if key := m.Key(); key != "" {
				confirmations = append(confirmations, `{"type":"agentctl_answer","conversationId":"uuid","requestId":"`+
					key+`","payload":{}}`)
			}
		}
		afterSend = wire.DecodeMessage(f.Data).Type() == wire.TypeSend
	}
	if !c.Silent {
		defer c.Receive(confirmations...)
	}
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			c.t.Fatal(err)
		}
		if a != nil {
			c.Answers[a.ID] = a
			c.handleSubscribed(a)
			continue
		}
		c.handleEvent(e, line)
	}
}

func (c *Client) handleSubscribed(a *protocol.Answer) {
	var r protocol.SubscribeResult
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || r.Mode == "" {
		return
	}
	if r.Snapshot != nil {
		c.State, c.Epoch, c.Transcript, c.Events = r.Snapshot.State, r.Snapshot.Epoch, &protocol.Transcript{}, nil
	}
}

func (c *Client) handleEvent(e *protocol.Event, line []byte) {
	c.t.Helper()
	if len(line) > protocol.MaxEvent {
		c.t.Fatalf("an event of %d bytes", len(line))
	}
	if e.Type == protocol.SummaryChanged {
		var s protocol.Summary
		_ = e.Decode(&s)
		c.Summaries = append(c.Summaries, s)
	}
	if c.State == nil {
		return
	}
	if err := c.State.Apply(e); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.Transcript.Apply(e); err != nil {
		c.t.Fatal(err)
	}
	if e.Durable() {
		c.Events = append(c.Events, e)
	}
}

// Command sends a command and returns its id.
func (c *Client) Command(verb protocol.Verb, session string, data any) string {
	c.t.Helper()
	return c.CommandWithKey(verb, session, "", data)
}

// CommandWithKey sends a command with a key and returns its id.
func (c *Client) CommandWithKey(verb protocol.Verb, session, key string, data any) string {
	c.t.Helper()
	c.lastID++
	cmd := protocol.Command{ID: strconv.Itoa(c.lastID), Command: verb, Session: session, Key: key}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	c.Deliver(c.Codec.Native(c.Now, protocol.MustEncode(cmd)))
	return cmd.ID
}

// Pending returns the number of commands without an answer.
func (c *Client) Pending() int { return c.lastID - len(c.Answers) }

// Result returns the result of a command, or nil if it has no answer.
func Result[R any](c *Client, id string) *R {
	c.t.Helper()
	a := c.Answers[id]
	if a == nil {
		return nil
	}
	if a.Error != nil {
		c.t.Fatalf("answer %s: %v", id, a.Error)
	}
	r := new(R)
	if err := json.Unmarshal(a.Result, r); err != nil {
		c.t.Fatal(err)
	}
	return r
}

// ErrorCode returns the code of a command's error, or "" if it has not failed.
func (c *Client) ErrorCode(id string) protocol.Code {
	if a := c.Answers[id]; a != nil && a.Error != nil {
		return a.Error.Code
	}
	return ""
}

// Receive delivers frames of the foreign server.
func (c *Client) Receive(frames ...string) {
	c.t.Helper()
	for _, f := range frames {
		c.Deliver(c.Codec.Foreign(c.Now, codec.Frame{Data: []byte(f)}))
	}
}

// WantSent checks the frames sent since the last check.
func (c *Client) WantSent(frames ...string) {
	c.t.Helper()
	var got []string
	for _, f := range c.Frames {
		got = append(got, string(f))
	}
	c.Frames = nil
	wantFrames(c.t, got, frames)
}

// Advance advances the time to the codec's next wake.
func (c *Client) Advance() {
	c.t.Helper()
	if c.Wake.IsZero() {
		c.t.Fatal("no wake is scheduled")
	}
	c.Now = c.Wake
	c.Deliver(c.Codec.Wake(c.Now))
}

// Subscribe subscribes to the conversation.
func (c *Client) Subscribe() {
	c.t.Helper()
	if Result[protocol.SubscribeResult](c, c.Command(protocol.DoSubscribe, "uuid", nil)) == nil {
		c.t.Fatal("subscribe has no answer")
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
	c.t.Helper()
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	c.Frames = nil
	if c.Answers[id] == nil {
		c.Advance()
	}
	if r := Result[protocol.SendResult](c, id); r == nil || r.Status != protocol.SendStarted {
		c.t.Fatalf("send: %v", c.Answers[id])
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
