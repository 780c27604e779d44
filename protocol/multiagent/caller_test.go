package multiagent

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol/codec"

	"agentctl/protocol"
)

// A caller is our client beside the codec of its connection: it follows one session, folds what it is told, and keeps answers.
type caller struct {
	t       tester
	memory  *codec.ClientState
	options map[string]string
	mint    func(string) string
	codec   *Client
	now     time.Time
	wake    time.Time
	last    int
	answers map[string]*protocol.Answer
	frames  [][]byte // said to the foreign server and not taken yet
	state   *protocol.State
	epoch   string
	story   *protocol.Transcript
	events  []*protocol.Event
	told    []protocol.Summary
}

func newCaller(t tester, options map[string]string) *caller {
	c := &caller{t: t, memory: new(codec.ClientState), options: options, mint: mint("c"), now: start, answers: map[string]*protocol.Answer{}}
	c.connect()
	return c
}

// connect opens a connection.
func (c *caller) connect() {
	c.codec = NewClient(codec.ClientOptions{Name: "ada", ID: c.mint, Options: c.options, Resume: c.memory})
	before := len(c.frames)
	c.do(c.codec.Open(c.now))
	if got := c.frames[before:]; len(got) == 0 || string(got[0]) != `{"type":"PING"}` {
		c.t.Fatalf("%s: not greeted", got)
	}
	c.frames = slices.Delete(c.frames, before, before+1)
	c.says(`{"type":"PONG"}`)
}

func (c *caller) do(out codec.Output) {
	c.t.Helper()
	if out.Close != nil {
		c.t.Fatalf("the codec closes: %v", out.Close)
	}
	c.wake = out.Wake
	for _, f := range out.Foreign {
		if !json.Valid(f.Data) || f.Binary {
			c.t.Fatalf("no JSON: %s", f.Data)
		}
		c.frames = append(c.frames, f.Data)
	}
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			c.t.Fatal(err)
		}
		if a != nil {
			c.answers[a.ID] = a
			c.attached(a)
			continue
		}
		c.event(e, line)
	}
}

func (c *caller) attached(a *protocol.Answer) {
	var r protocol.SubscribeResult
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || r.Mode == "" {
		return
	}
	if r.Snapshot != nil {
		c.state, c.epoch, c.story, c.events = r.Snapshot.State, r.Snapshot.Epoch, &protocol.Transcript{}, nil
	}
}

func (c *caller) event(e *protocol.Event, line []byte) {
	c.t.Helper()
	if len(line) > protocol.MaxEvent {
		c.t.Fatalf("an event of %d bytes", len(line))
	}
	if e.Type == protocol.SummaryChanged {
		var s protocol.Summary
		_ = e.Decode(&s)
		c.told = append(c.told, s)
	}
	if c.state == nil {
		return
	}
	if err := c.state.Apply(e); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.story.Apply(e); err != nil {
		c.t.Fatal(err)
	}
	if e.Durable() {
		c.events = append(c.events, e)
	}
}

// asks gives a command and returns its id.
func (c *caller) asks(verb protocol.Verb, session string, data any) string {
	c.t.Helper()
	return c.asksWithKey(verb, session, "", data)
}

func (c *caller) asksWithKey(verb protocol.Verb, session, key string, data any) string {
	c.t.Helper()
	c.last++
	cmd := protocol.Command{ID: strconv.Itoa(c.last), Command: verb, Session: session, Key: key}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	c.do(c.codec.Native(c.now, protocol.MustEncode(cmd)))
	return cmd.ID
}

// result returns what a command was answered; nil when it has no answer.
func result[R any](c *caller, id string) *R {
	c.t.Helper()
	a := c.answers[id]
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

func (c *caller) code(id string) protocol.Code {
	if a := c.answers[id]; a != nil && a.Error != nil {
		return a.Error.Code
	}
	return ""
}

// says brings a frame of the foreign server.
func (c *caller) says(frames ...string) {
	c.t.Helper()
	for _, f := range frames {
		c.do(c.codec.Foreign(c.now, codec.Frame{Data: []byte(f)}))
	}
}

func (c *caller) wants(frames ...string) {
	c.t.Helper()
	var got []string
	for _, f := range c.frames {
		got = append(got, string(f))
	}
	c.frames = nil
	same(c.t, got, frames)
}

// waits lets the time pass that the codec asked for.
func (c *caller) waits() {
	c.t.Helper()
	if c.wake.IsZero() {
		c.t.Fatal("nothing to wait for")
	}
	c.now = c.wake
	c.do(c.codec.Wake(c.now))
}

// follows subscribes to the conversation.
func (c *caller) follows() {
	c.t.Helper()
	if result[protocol.SubscribeResult](c, c.asks(protocol.DoSubscribe, "uuid", nil)) == nil {
		c.t.Fatal("subscribe has no answer")
	}
	if t := c.codec.heardOf("uuid"); len(c.frames) > 0 || !t.taken {
		c.wants(`{"type":"PING","conversationId":"uuid"}`)
	}
}

// sends sends a message and waits until it counts as taken.
func (c *caller) sends(text string) {
	c.t.Helper()
	id := c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	c.frames = nil
	c.waits()
	if r := result[protocol.SendResult](c, id); r == nil || r.Status != protocol.SendStarted {
		c.t.Fatalf("send: %v", c.answers[id])
	}
}

func (c *caller) text() (all string) {
	for _, turn := range c.story.Turns {
		for _, it := range turn.Items {
			if it.Kind == protocol.ItemText {
				all += it.Text.String()
			}
		}
	}
	return all
}
