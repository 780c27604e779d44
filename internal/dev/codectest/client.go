package codectest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Start is the time at which every test begins.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// A T is the common part of testing.T, testing.F and rapid.T.
type T interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// IDs returns a generator of predictable ids.
func IDs() func(prefix string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s_%d", prefix, n) }
}

// A Client is a native client above a client codec: it sends commands, keeps answers, and applies
// the events of the session that it subscribes to.
type Client struct {
	T       T
	Codec   codec.Codec
	Foreign func(codec.Output) // carries the frames of an output to the server
	Now     time.Time
	Wake    time.Time    // as the codec last asked
	Closed  *codec.Close // by the last output

	CommandCount int
	Answers      map[string]*protocol.Answer
	Modes        []string        // of subscriptions
	State        *protocol.State // nil before the first snapshot
	Transcript   *protocol.Transcript
	At           protocol.Position // of the last durable event
	Events       []protocol.Event  // durable, since the last snapshot
	Ephemeral    []protocol.Event
}

// NewClient returns a client without a codec.
func NewClient(t T) Client {
	return Client{T: t, Now: Start, Answers: map[string]*protocol.Answer{}}
}

// Open begins a connection.
func (c *Client) Open(end codec.Codec) {
	c.T.Helper()
	c.Codec = end
	c.Deliver(end.Open(c.Now))
}

// Deliver takes an output of the codec.
func (c *Client) Deliver(out codec.Output) {
	c.T.Helper()
	c.Wake, c.Closed = out.Wake, out.Close
	for _, line := range out.Native {
		e, a, err := protocol.DecodeIncoming(line)
		switch {
		case err != nil:
			c.T.Fatalf("not a native line: %v: %s", err, line)
		case a != nil:
			c.handleAnswer(a)
		default:
			c.handleEvent(e, line)
		}
	}
	c.Foreign(out)
}

func (c *Client) handleAnswer(a *protocol.Answer) {
	c.Answers[a.ID] = a
	var r protocol.SubscribeResult
	if a.Error != nil || json.Unmarshal(a.Result, &r) != nil || r.Mode == "" {
		return
	}
	c.Modes, c.At = append(c.Modes, r.Mode), r.After
	if r.Snapshot != nil {
		c.State, c.Transcript, c.Events = r.Snapshot.State, &protocol.Transcript{}, nil
	}
}

func (c *Client) handleEvent(e *protocol.Event, line []byte) {
	c.T.Helper()
	if len(line) > protocol.MaxEvent {
		c.T.Fatalf("an event of %d bytes", len(line))
	}
	if !e.Durable() {
		c.Ephemeral = append(c.Ephemeral, *e)
	} else if c.At.Seq++; e.Seq != c.At.Seq {
		c.T.Fatalf("event %d comes in place of %d: %s", e.Seq, c.At.Seq, line)
	} else {
		c.Events = append(c.Events, *e)
	}
	if c.State == nil {
		if e.Durable() {
			c.T.Fatalf("an event without a subscription: %s", line)
		}
		return
	}
	if err := c.State.Apply(e); err != nil {
		c.T.Fatalf("%v: %s", err, line)
	}
	if _, err := c.Transcript.Apply(e); err != nil {
		c.T.Fatalf("%v: %s", err, line)
	}
}

// Do sends a command and returns its id. data may be nil.
func (c *Client) Do(verb protocol.Verb, session, key string, data any) string {
	c.T.Helper()
	c.CommandCount++
	cmd := protocol.Command{ID: strconv.Itoa(c.CommandCount), Command: verb, Session: session, Key: key}
	if data != nil {
		cmd.Data = protocol.MustEncode(data)
	}
	c.Deliver(c.Codec.Native(c.Now, protocol.MustEncode(cmd)))
	return cmd.ID
}

// Answer returns the answer to the newest command, or nil.
func (c *Client) Answer() *protocol.Answer { return c.Answers[strconv.Itoa(c.CommandCount)] }

// ErrorCode returns the code of a command's error, or "" if it has not failed.
func (c *Client) ErrorCode(id string) protocol.Code {
	if a := c.Answers[id]; a != nil && a.Error != nil {
		return a.Error.Code
	}
	return ""
}

// Result returns the result of a command, or nil if it has no answer. It fails the test if the
// command has failed.
func Result[R any](c *Client, id string) *R {
	c.T.Helper()
	a := c.Answers[id]
	if a == nil {
		return nil
	}
	if a.Error != nil {
		c.T.Fatalf("answer %s: %v", id, a.Error)
	}
	r := new(R)
	if err := json.Unmarshal(a.Result, r); err != nil {
		c.T.Fatal(err)
	}
	return r
}

// Receive delivers frames of the foreign server.
func (c *Client) Receive(frames ...string) {
	c.T.Helper()
	for _, f := range frames {
		c.Deliver(c.Codec.Foreign(c.Now, codec.Frame{Data: []byte(f)}))
	}
}

// Advance lets time pass.
func (c *Client) Advance(d time.Duration) {
	c.T.Helper()
	c.Now = c.Now.Add(d)
	c.Deliver(c.Codec.Wake(c.Now))
}
