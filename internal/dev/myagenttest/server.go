package myagenttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// Start is the time at which every test begins.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// SequentialIDs returns predictable ids.
func SequentialIDs() func(string) string {
	n := 0
	return func(prefix string) string { n++; return fmt.Sprintf("%s_%d", prefix, n) }
}

// Sign signs in place of a server's secret.
func Sign(message string) string {
	return fmt.Sprintf("%064x", len(message)) + message[:min(8, len(message))]
}

// A Server is a server codec between a native server and a foreign client that the test plays.
type Server struct {
	T      testing.TB
	Native *NativeServer
	Codec  codec.Codec
	Now    time.Time
	Frames []wire.Message // received by the client and not yet checked
	Raw    [][]byte
	Out    codec.Output
}

// A serverCodec makes the codec of a connection.
type serverCodec = func(codec.ServerOptions) codec.Codec

// NewServer returns a server with a connection of a client that the test plays. options are the
// dialect's.
func NewServer(
	t testing.TB, newCodec serverCodec, p *NativeServer, store *codec.ResumeStore, options map[string]string,
) *Server {
	b := &Server{T: t, Native: p, Now: Start}
	o := codec.ServerOptions{
		ID: SequentialIDs(), Agent: func(s string) string { return s }, Sign: Sign, Version: "agentctl/test",
		Resume: store, Options: options,
	}
	if store != nil {
		p.connections++
		o.ID = func(prefix string) string { return fmt.Sprintf("%s%d", prefix, p.connections) }
	}
	b.Codec = newCodec(o)
	b.deliver(b.Codec.Open(b.Now))
	return b
}

func (b *Server) deliver(out codec.Output) {
	b.T.Helper()
	b.Out = out
	for _, f := range out.Foreign {
		m, ok := wire.DecodeMessage(f.Data)
		if !ok {
			b.T.Fatalf("not a frame: %s", f.Data)
		}
		b.Frames, b.Raw = append(b.Frames, m), append(b.Raw, f.Data)
	}
	for _, line := range out.Native {
		for _, answer := range b.Native.Handle(line) {
			b.ReceiveNative(answer)
		}
	}
}

// ReceiveNative delivers lines of the native server.
func (b *Server) ReceiveNative(lines ...[]byte) {
	b.T.Helper()
	for _, line := range lines {
		b.deliver(b.Codec.Native(b.Now, line))
	}
}

// Receive delivers a frame of the client.
func (b *Server) Receive(frame string) {
	b.T.Helper()
	b.deliver(b.Codec.Foreign(b.Now, codec.Frame{Data: []byte(frame)}))
}

// Wake advances the time.
func (b *Server) Wake(d time.Duration) {
	b.Now = b.Now.Add(d)
	b.deliver(b.Codec.Wake(b.Now))
}

// NextFrame returns the next frame of one of the events, skipping others.
func (b *Server) NextFrame(events ...string) wire.Message {
	b.T.Helper()
	var seen []string
	for len(b.Frames) > 0 {
		m := b.Frames[0]
		b.Frames, b.Raw = b.Frames[1:], b.Raw[1:]
		if slices.Contains(events, string(m.Event)) {
			return m
		}
		seen = append(seen, string(m.Event))
	}
	b.T.Fatalf("no %s frame, got %s", events, strings.Join(seen, ", "))
	return wire.Message{}
}

// TakeEvents returns the events of the unchecked frames and drops these.
func (b *Server) TakeEvents() []string {
	var all []string
	for _, m := range b.Frames {
		all = append(all, string(m.Event))
	}
	b.Frames, b.Raw = nil, nil
	return all
}

// LastCommand returns the newest command of a verb.
func (b *Server) LastCommand(verb protocol.Verb, data any) protocol.Command {
	b.T.Helper()
	for i := len(b.Native.Commands) - 1; i >= 0; i-- {
		if c := b.Native.Commands[i]; c.Command == verb {
			if data != nil && len(c.Data) > 0 {
				if err := json.Unmarshal(c.Data, data); err != nil {
					b.T.Fatal(err)
				}
			}
			return c
		}
	}
	b.T.Fatalf("no %s was sent", verb)
	return protocol.Command{}
}

// OpenedServer returns a serverTest whose client has created session s1.
func OpenedServer(t testing.TB, newCodec serverCodec) *Server {
	b := NewServer(t, newCodec, NewNativeServer(t), nil, nil)
	b.Receive(`{"event":"user.create_session"}`)
	b.NextFrame(wire.AgentSessionCreated)
	return b
}

// MetaOf returns the metadata of a frame.
func MetaOf(m wire.Message) wire.Fields { return wire.ParseObject(m.Metadata) }
