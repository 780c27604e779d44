package multiagent

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A clientTest is a client above its codec. It subscribes to one session, applies its events and
// keeps answers.
type clientTest struct {
	t          testingT
	resume     *codec.ClientState
	options    map[string]string
	newID      func(string) string
	atAgentctl bool // the server is agentctl's
	codec      *client
	now        time.Time
	wake       time.Time
	lastID     int
	answers    map[string]*protocol.Answer
	frames     [][]byte // sent to the foreign server and not yet checked
	state      *protocol.State
	epoch      string
	transcript *protocol.Transcript
	events     []*protocol.Event
	summaries  []protocol.Summary
	silent     bool // nothing answers the client's messages and the PINGs after them
}

func newClientTest(t testingT, options map[string]string) *clientTest {
	return newClientTestAt(t, false, options)
}

func newClientTestAt(t testingT, agentctl bool, options map[string]string) *clientTest {
	c := &clientTest{
		t: t, resume: new(codec.ClientState), options: options, newID: sequentialIDs("c"), now: start,
		answers: map[string]*protocol.Answer{}, atAgentctl: agentctl,
	}
	c.connect()
	return c
}

// connect opens a connection.
func (c *clientTest) connect() {
	c.codec = newClient(codec.ClientOptions{
		Name: "ada", ID: c.newID, Options: c.options, Resume: c.resume, PeerIsAgentctl: c.atAgentctl,
	})
	before := len(c.frames)
	c.deliver(c.codec.Open(c.now))
	if got := c.frames[before:]; len(got) == 0 || string(got[0]) != `{"type":"PING"}` {
		c.t.Fatalf("%s: no PING", got)
	}
	c.frames = slices.Delete(c.frames, before, before+1)
	c.receive(`{"type":"PONG"}`)
}

func (c *clientTest) deliver(out codec.Output) {
	c.t.Helper()
	if out.Close != nil {
		c.t.Fatalf("the codec closed the connection: %v", out.Close)
	}
	c.wake = out.Wake
	afterSend, confirmations := false, []string(nil)
	for _, f := range out.Foreign {
		if !json.Valid(f.Data) || f.Binary {
			c.t.Fatalf("not JSON: %s", f.Data)
		}
		if m := decodeMessage(f.Data); afterSend && m.messageType() == typePing {
			confirmations = append(confirmations, `{"type":"PONG"}`)
		} else {
			c.frames = append(c.frames, f.Data)
			if key := m.key(); key != "" {
				confirmations = append(confirmations, `{"type":"agentctl_answer","conversationId":"uuid","requestId":"`+
					key+`","payload":{}}`)
			}
		}
		afterSend = decodeMessage(f.Data).messageType() == typeSend
	}
	if !c.silent {
		defer c.receive(confirmations...)
	}
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			c.t.Fatal(err)
		}
		if a != nil {
			c.answers[a.ID] = a
			c.handleSubscribed(a)
			continue
		}
		c.handleEvent(e, line)
	}
}

func (c *clientTest) handleSubscribed(a *protocol.Answer) {
	var r protocol.SubscribeResult
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || r.Mode == "" {
		return
	}
	if r.Snapshot != nil {
		c.state, c.epoch, c.transcript, c.events = r.Snapshot.State, r.Snapshot.Epoch, &protocol.Transcript{}, nil
	}
}

func (c *clientTest) handleEvent(e *protocol.Event, line []byte) {
	c.t.Helper()
	if len(line) > protocol.MaxEvent {
		c.t.Fatalf("an event of %d bytes", len(line))
	}
	if e.Type == protocol.SummaryChanged {
		var s protocol.Summary
		_ = e.Decode(&s)
		c.summaries = append(c.summaries, s)
	}
	if c.state == nil {
		return
	}
	if err := c.state.Apply(e); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.transcript.Apply(e); err != nil {
		c.t.Fatal(err)
	}
	if e.Durable() {
		c.events = append(c.events, e)
	}
}

// command sends a command and returns its id.
func (c *clientTest) command(verb protocol.Verb, session string, data any) string {
	c.t.Helper()
	return c.commandWithKey(verb, session, "", data)
}

func (c *clientTest) commandWithKey(verb protocol.Verb, session, key string, data any) string {
	c.t.Helper()
	c.lastID++
	cmd := protocol.Command{ID: strconv.Itoa(c.lastID), Command: verb, Session: session, Key: key}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	c.deliver(c.codec.Native(c.now, protocol.MustEncode(cmd)))
	return cmd.ID
}

// result returns the result of a command, or nil if it has no answer.
func result[R any](c *clientTest, id string) *R {
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

func (c *clientTest) errorCode(id string) protocol.Code {
	if a := c.answers[id]; a != nil && a.Error != nil {
		return a.Error.Code
	}
	return ""
}

// receive delivers frames of the foreign server.
func (c *clientTest) receive(frames ...string) {
	c.t.Helper()
	for _, f := range frames {
		c.deliver(c.codec.Foreign(c.now, codec.Frame{Data: []byte(f)}))
	}
}

func (c *clientTest) wantSent(frames ...string) {
	c.t.Helper()
	var got []string
	for _, f := range c.frames {
		got = append(got, string(f))
	}
	c.frames = nil
	wantFrames(c.t, got, frames)
}

// advance advances the time to the codec's next wake.
func (c *clientTest) advance() {
	c.t.Helper()
	if c.wake.IsZero() {
		c.t.Fatal("no wake is scheduled")
	}
	c.now = c.wake
	c.deliver(c.codec.Wake(c.now))
}

// subscribe subscribes to the conversation.
func (c *clientTest) subscribe() {
	c.t.Helper()
	if result[protocol.SubscribeResult](c, c.command(protocol.DoSubscribe, "uuid", nil)) == nil {
		c.t.Fatal("subscribe has no answer")
	}
	if s := c.codec.sessionByID("uuid"); len(c.frames) > 0 || !s.updatesRequested {
		c.wantSent(`{"type":"PING","conversationId":"uuid"}`)
		if !c.atAgentctl {
			c.receive(`{"type":"PONG"}`)
		}
	}
}

// send sends a message and waits until it counts as accepted.
func (c *clientTest) send(text string) {
	c.t.Helper()
	id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	c.frames = nil
	if c.answers[id] == nil {
		c.advance()
	}
	if r := result[protocol.SendResult](c, id); r == nil || r.Status != protocol.SendStarted {
		c.t.Fatalf("send: %v", c.answers[id])
	}
}

func (c *clientTest) text() (all string) {
	for _, turn := range c.transcript.Turns {
		for _, it := range turn.Items {
			if it.Kind == protocol.ItemText {
				all += it.Text.String()
			}
		}
	}
	return all
}
