package myagenttest

import (
	"encoding/json"
	"fmt"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Client is a native client above the client codec.
type Client struct {
	codectest.Client
	newCodec clientCodec
	ToServer func(codec.Frame)
	resume   *codec.ClientState
	newID    func(string) string
}

// A clientCodec makes the codec of a connection.
type clientCodec = func(codec.ClientOptions) codec.Codec

// NewClient returns a client without a connection.
func NewClient(t codectest.T, newCodec clientCodec) *Client {
	u := &Client{
		Client: codectest.NewClient(t), newCodec: newCodec, resume: new(codec.ClientState), newID: codectest.IDs(),
	}
	u.Foreign = func(out codec.Output) {
		for _, f := range out.Foreign {
			u.ToServer(f)
		}
	}
	return u
}

// Dial opens a connection.
func (u *Client) Dial(foreign func(codec.Frame)) {
	u.ToServer = foreign
	u.Open(u.newCodec(codec.ClientOptions{Name: "ada", ID: u.newID, Resume: u.resume}))
}

// CaughtUp returns the number of caught_up events.
func (u *Client) CaughtUp() (n int) {
	for _, e := range u.Ephemeral {
		if e.Type == protocol.CaughtUp {
			n++
		}
	}
	return n
}

// Command sends a command and returns its id.
func (u *Client) Command(verb protocol.Verb, session string, data any) string {
	u.T.Helper()
	key := ""
	if t := protocol.CommandOf(verb); t != nil && t.Changes {
		key = fmt.Sprintf("key-%d", u.CommandCount+1)
	}
	return u.Do(verb, session, key, data)
}

// Call sends a command and decodes the result, which must exist.
func (u *Client) Call(verb protocol.Verb, session string, data, result any) {
	u.T.Helper()
	raw := codectest.Result[json.RawMessage](&u.Client, u.Command(verb, session, data))
	if raw == nil {
		u.T.Fatalf("%s: no answer", verb)
	}
	if result != nil {
		if err := json.Unmarshal(*raw, result); err != nil {
			u.T.Fatal(err)
		}
	}
}

// CallError sends a command and returns the error, which must exist.
func (u *Client) CallError(verb protocol.Verb, session string, data any) *protocol.Error {
	u.T.Helper()
	a := u.Answers[u.Command(verb, session, data)]
	if a == nil || a.Error == nil {
		u.T.Fatalf("%s: answered %+v", verb, a)
	}
	return a.Error
}
