package myagenttest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Client is a client above its codec: it sends commands and applies the events it receives.
type Client struct {
	T          testing.TB
	newCodec   clientCodec
	Codec      codec.Codec
	Now        time.Time
	ToServer   func(codec.Frame) // to the server
	resume     *codec.ClientState
	newID      func(string) string
	n          int
	Answers    map[string]protocol.Answer
	State      *protocol.State
	Transcript *protocol.Transcript
	At         protocol.Position
	Modes      []string
	CaughtUp   int // caught_up
	Ephemeral  []protocol.Event
	Events     []protocol.Event // durable
}

// A clientCodec makes the codec of a connection.
type clientCodec = func(codec.ClientOptions) codec.Codec

// NewClient returns a client without a connection.
func NewClient(t testing.TB, newCodec clientCodec) *Client {
	u := &Client{
		T: t, newCodec: newCodec, Now: Start, resume: new(codec.ClientState), newID: SequentialIDs(), Answers: map[string]protocol.Answer{},
	}
	return u
}

// Dial opens a connection.
func (u *Client) Dial(foreign func(codec.Frame)) {
	u.ToServer = foreign
	u.Codec = u.newCodec(codec.ClientOptions{Name: "ada", ID: u.newID, Resume: u.resume})
	u.Deliver(u.Codec.Open(u.Now))
}

// Deliver takes the output of the codec.
func (u *Client) Deliver(out codec.Output) {
	u.T.Helper()
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
			u.T.Fatalf("not a native line: %s", line)
		case a != nil:
			u.handleAnswer(*a)
		default:
			u.handleEvent(e)
		}
	}
	for _, f := range out.Foreign {
		u.ToServer(f)
	}
}

func (u *Client) handleAnswer(a protocol.Answer) {
	u.Answers[a.ID] = a
	var r protocol.SubscribeResult
	if json.Unmarshal(a.Result, &r) != nil || r.Mode == "" {
		return
	}
	u.Modes = append(u.Modes, r.Mode)
	if r.Snapshot != nil {
		u.State, u.Transcript = r.Snapshot.State, &protocol.Transcript{}
	}
	u.At = r.After
}

func (u *Client) handleEvent(e *protocol.Event) {
	u.T.Helper()
	if e.Type == protocol.CaughtUp {
		u.CaughtUp++
	}
	if !e.Durable() {
		u.Ephemeral = append(u.Ephemeral, *e)
		return
	}
	if e.Seq != u.At.Seq+1 {
		u.T.Fatalf("event %d comes after %d", e.Seq, u.At.Seq)
	}
	if len(e.AppendJSON(nil)) > protocol.MaxEvent {
		u.T.Fatalf("event %d is too large", e.Seq)
	}
	if err := u.State.Apply(e); err != nil {
		u.T.Fatal(err)
	}
	if _, err := u.Transcript.Apply(e); err != nil {
		u.T.Fatal(err)
	}
	u.At.Seq = e.Seq
	u.Events = append(u.Events, *e)
}

// Command sends a command and returns its id.
func (u *Client) Command(verb protocol.Verb, session string, data any) string {
	u.T.Helper()
	u.n++
	c := protocol.Command{ID: fmt.Sprintf("u%d", u.n), Command: verb, Session: session}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	if t := protocol.CommandOf(verb); t != nil && t.Changes {
		c.Key = fmt.Sprintf("key-%d", u.n)
	}
	u.Deliver(u.Codec.Native(u.Now, protocol.MustEncode(c)))
	return c.ID
}

// Call sends a command and decodes the result, which must exist.
func (u *Client) Call(verb protocol.Verb, session string, data, result any) {
	u.T.Helper()
	id := u.Command(verb, session, data)
	a, ok := u.Answers[id]
	if !ok || a.Error != nil {
		u.T.Fatalf("%s: answered %t: %+v", verb, ok, a.Error)
	}
	if result != nil {
		if err := json.Unmarshal(a.Result, result); err != nil {
			u.T.Fatal(err)
		}
	}
}

// CallError sends a command and returns the error, which must exist.
func (u *Client) CallError(verb protocol.Verb, session string, data any) *protocol.Error {
	u.T.Helper()
	a, ok := u.Answers[u.Command(verb, session, data)]
	if !ok || a.Error == nil {
		u.T.Fatalf("%s: answered %t: %s", verb, ok, a.Result)
	}
	return a.Error
}
