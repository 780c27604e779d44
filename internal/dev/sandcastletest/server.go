package sandcastletest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A Server is a server codec between a NativeServer and a foreign client that the test plays.
type Server struct {
	*NativeServer
	codectest.Server
	Sent []string // messages of the frames, without newlines
}

// NewServer returns a server with a connection of a client that the test plays.
func NewServer(t codectest.T, newCodec func(codec.ServerOptions) codec.Codec) *Server {
	d := &Server{NativeServer: NewNativeServer(t)}
	d.Server = codectest.Server{T: t, Native: d.Handle, Now: Noon}
	d.Foreign = func(out codec.Output) { d.Sent = append(d.Sent, messages(t, out)...) }
	d.Open(newCodec(codec.ServerOptions{By: protocol.Actor{Name: "sandcastle@peer"}}))
	return d
}

// Request delivers a frame of the client and returns the messages sent.
func (d *Server) Request(frame string) []string {
	d.T.Helper()
	d.Sent = nil
	d.Receive(frame)
	return d.Sent
}

// Emit delivers the new events of the native server and returns the messages sent.
func (d *Server) Emit() []string {
	d.T.Helper()
	d.Sent = nil
	d.ReceiveNative(d.NewLines()...)
	return d.Sent
}

// RequestFrame returns a request of the client.
func RequestFrame(id int, tag, payload string) string {
	return fmt.Sprintf(`{"_tag":"Request","id":"%d","tag":%q,"payload":%s,"headers":[]}`+"\n", id, tag, payload)
}

// AckFrame acknowledges the chunk of a stream.
func AckFrame(id int) string { return fmt.Sprintf(`{"_tag":"Ack","requestId":"%d"}`+"\n", id) }

// SessionEvents returns the session events of the messages sent.
func SessionEvents(t codectest.T, sent []string) (list []wire.SessionEvent) {
	t.Helper()
	for _, line := range sent {
		var c wire.ChunkMessage
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v", err)
		}
		if c.Tag == wire.TagChunk && len(c.Values) == 0 {
			t.Fatalf("an empty chunk")
		}
		for _, v := range c.Values {
			var e wire.SessionEvent
			if err := json.Unmarshal(v, &e); err != nil {
				t.Fatalf("%v", err)
			}
			list = append(list, e)
		}
	}
	return list
}

// EventTags returns the tags of events, or the type of a stream event.
func EventTags(list []wire.SessionEvent) string {
	var tags []string
	for _, e := range list {
		w := e.Tag
		if e.Tag == wire.StreamEvent {
			var c wire.ChatEvent
			_ = json.Unmarshal(e.Event, &c)
			w = c.Type
		}
		tags = append(tags, w)
	}
	return strings.Join(tags, " ")
}

// WantLines compares messages.
func WantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
}

// DecodeResult decodes the result of an answer; the zero value if it is an error.
func DecodeResult[T any](a protocol.Answer) (r T) {
	_ = json.Unmarshal(a.Result, &r)
	return r
}
