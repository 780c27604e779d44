package sandcastletest

import (
	"encoding/json"
	"fmt"
	"strings"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Client is a native client above the client codec, on a real server that the test plays.
type Client struct {
	codectest.Client
	Sent  []string // to the server, by the last output
	Lines []string // to the native client, by the last output
}

// NewClient returns a client with a connection to a server that the test plays.
func NewClient(
	t codectest.T, newCodec func(codec.ClientOptions) codec.Codec, memory *codec.ClientState,
) *Client {
	d := &Client{Client: codectest.NewClient(t)}
	d.Now, d.Foreign = Noon, d.take
	d.Open(newCodec(codec.ClientOptions{Name: "ada", Resume: memory, ID: codectest.IDs()}))
	return d
}

func (d *Client) take(out codec.Output) {
	d.T.Helper()
	d.Sent, d.Lines = messages(d.T, out), nil
	for _, line := range out.Native {
		d.Lines = append(d.Lines, string(line))
	}
}

// messages returns the messages of the frames of an output, without newlines.
func messages(t codectest.T, out codec.Output) (list []string) {
	t.Helper()
	for _, f := range out.Foreign {
		if f.Binary || !strings.HasSuffix(string(f.Data), "\n") {
			t.Fatalf("not a text frame that ends in a newline: %q", f.Data)
		}
		for line := range strings.Lines(string(f.Data)) {
			if !json.Valid([]byte(line)) {
				t.Fatalf("not JSON: %s", line)
			}
			list = append(list, strings.TrimSuffix(line, "\n"))
		}
	}
	return list
}

// Command sends a command of the native client and returns its answer, or nil.
func (d *Client) Command(verb protocol.Verb, key string, data any) *protocol.Answer {
	d.T.Helper()
	session := ""
	if protocol.CommandOf(verb).Session {
		session = "abc"
	}
	return d.Answer(d.Do(verb, session, key, data))
}

// Answer returns the answer to a command if the last output has it, else nil.
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
	d.T.Helper()
	d.Client.Receive(frame + "\n")
}

// ReceiveChunk delivers values of a stream.
func (d *Client) ReceiveChunk(id int, values ...string) {
	d.T.Helper()
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
	d.T.Helper()
	d.Command(protocol.DoSubscribe, "", nil)
	d.ReceiveChunk(0, Idle)
	if d.NativeTypes() != "answer session.created caught_up" {
		d.T.Fatalf("%s", d.Lines)
	}
}

// TurnOne is the begin of turn t1.
const TurnOne = `{"_tag":"UserMessage","message":{"id":"m1","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"temp_1"}},` +
	`{"_tag":"SessionStarted","turnId":"t1","messageId":"m1","startedAt":"2026-03-01T11:59:00.000Z"}`

// StreamEventJSON returns a chat event of a turn.
func StreamEventJSON(turn, event string) string {
	return fmt.Sprintf(`{"_tag":"StreamEvent","turnId":%q,"event":%s}`, turn, event)
}
