package sandcastletest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Client is a client codec on a real server that the test plays.
type Client struct {
	t      *testing.T
	Codec  codec.Codec
	Now    time.Time
	Sent   []string // to the server
	Lines  []string // to the native client
	State  *protocol.State
	lastID int
	Closed *codec.Close
	Wake   time.Time
}

// NewClient returns a client with a connection to a server that the test plays.
func NewClient(
	t *testing.T, newCodec func(codec.ClientOptions) codec.Codec, memory *codec.ClientState,
) *Client {
	ids := 0
	d := &Client{t: t, Now: Noon}
	d.Codec = newCodec(codec.ClientOptions{
		Name: "ada", Resume: memory, ID: func(p string) string { ids++; return fmt.Sprint(p, "_", ids) },
	})
	d.Deliver(d.Codec.Open(Noon))
	return d
}

// Deliver takes the output of the codec.
func (d *Client) Deliver(out codec.Output) {
	d.t.Helper()
	d.Sent, d.Lines, d.Closed, d.Wake = nil, nil, out.Close, out.Wake
	for _, f := range out.Foreign {
		if f.Binary || !strings.HasSuffix(string(f.Data), "\n") {
			d.t.Errorf("not a text frame that ends in a newline: %q", f.Data)
		}
		d.Sent = append(d.Sent, strings.TrimSuffix(string(f.Data), "\n"))
	}
	for _, line := range out.Native {
		d.Lines = append(d.Lines, string(line))
		e, a, err := protocol.DecodeIncoming(line)
		if err != nil {
			d.t.Fatal(err)
		}
		if a != nil {
			if r := DecodeResult[protocol.SubscribeResult](*a); r.Snapshot != nil && r.Mode != "" {
				d.State = r.Snapshot.State
			}
			continue
		}
		if err := d.State.Apply(e); err != nil {
			d.t.Fatalf("%s: %v", line, err)
		}
	}
}

// Command sends a command of the native client.
func (d *Client) Command(verb protocol.Verb, key string, data any) *protocol.Answer {
	d.t.Helper()
	d.lastID++
	c := protocol.Command{ID: fmt.Sprintf("n%d", d.lastID), Command: verb, Session: "abc", Key: key}
	if ct := protocol.CommandOf(verb); !ct.Session {
		c.Session = ""
	}
	if data != nil {
		c.Data = protocol.MustEncode(data)
	}
	d.Deliver(d.Codec.Native(d.Now, protocol.MustEncode(c)))
	return d.Answer(c.ID)
}

// Answer returns the answer to a command, or nil.
func (d *Client) Answer(id string) *protocol.Answer {
	for _, line := range d.Lines {
		if _, a, _ := protocol.DecodeIncoming([]byte(line)); a != nil && a.ID == id {
			return a
		}
	}
	return nil
}

// Receive delivers a frame of the server.
func (d *Client) Receive(frame string) {
	d.t.Helper()
	d.Deliver(d.Codec.Foreign(d.Now, codec.Frame{Data: []byte(frame + "\n")}))
}

// ReceiveChunk delivers values of a stream.
func (d *Client) ReceiveChunk(id int, values ...string) {
	d.t.Helper()
	d.Receive(fmt.Sprintf(`{"_tag":"Chunk","requestId":"%d","values":[%s]}`, id, strings.Join(values, ",")))
}

// NativeTypes returns the types of the newest events; an answer counts as "answer".
func (d *Client) NativeTypes() string {
	var list []string
	for _, line := range d.Lines {
		if e, _, _ := protocol.DecodeIncoming([]byte(line)); e != nil {
			list = append(list, string(e.Type))
		} else {
			list = append(list, "answer")
		}
	}
	return strings.Join(list, " ")
}

// Idle is the first value of the stream of an idle session.
const Idle = `{"_tag":"InitialState","snapshot":{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},"buffer":[]}`

// Subscribe subscribes to an idle session. The stream is request 0.
func (d *Client) Subscribe() {
	d.t.Helper()
	d.Command(protocol.DoSubscribe, "", nil)
	d.ReceiveChunk(0, Idle)
	if d.NativeTypes() != "answer session.created caught_up" {
		d.t.Fatalf("%s", d.Lines)
	}
}

// TurnOne is the begin of turn t1.
const TurnOne = `{"_tag":"UserMessage","message":{"id":"m1","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"temp_1"}},` +
	`{"_tag":"SessionStarted","turnId":"t1","messageId":"m1","startedAt":"2026-03-01T11:59:00.000Z"}`

// StreamEventJSON returns a chat event of a turn.
func StreamEventJSON(turn, event string) string {
	return fmt.Sprintf(`{"_tag":"StreamEvent","turnId":%q,"event":%s}`, turn, event)
}
