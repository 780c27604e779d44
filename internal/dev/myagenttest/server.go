package myagenttest

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/internal/dev/codectest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// Sign signs in place of a server's secret.
func Sign(message string) string {
	return fmt.Sprintf("%064x", len(message)) + message[:min(8, len(message))]
}

// A Server is a server codec between a native server and a foreign client that the test plays.
type Server struct {
	codectest.Server
	Native *NativeServer
	Frames []wire.Message // received by the client and not yet checked
	Raw    [][]byte
}

// A serverCodec makes the codec of a connection.
type serverCodec = func(codec.ServerOptions) codec.Codec

// NewServer returns a server with a connection of a client that the test plays. options are the
// dialect's.
func NewServer(
	t codectest.T, newCodec serverCodec, p *NativeServer, store *codec.ResumeStore, options map[string]string,
) *Server {
	b := &Server{Server: codectest.Server{T: t, Native: p.Handle, Now: codectest.Start}, Native: p}
	b.Foreign = b.receiveFrames
	o := codec.ServerOptions{
		ID: codectest.IDs(), Agent: func(s string) string { return s }, Sign: Sign, Version: "agentctl/test",
		Resume: store, Options: options,
	}
	if store != nil {
		p.connections++
		o.ID = func(prefix string) string { return fmt.Sprintf("%s%d", prefix, p.connections) }
	}
	b.Open(newCodec(o))
	return b
}

func (b *Server) receiveFrames(out codec.Output) {
	b.T.Helper()
	for _, f := range out.Foreign {
		m, ok := wire.DecodeMessage(f.Data)
		if !ok {
			b.T.Fatalf("not a frame: %s", f.Data)
		}
		b.Frames, b.Raw = append(b.Frames, m), append(b.Raw, f.Data)
	}
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
	return codectest.Last(b.T, b.Native.Commands, verb, data)
}

// OpenedServer returns a server whose client has created session s1.
func OpenedServer(t codectest.T, newCodec serverCodec) *Server {
	b := NewServer(t, newCodec, NewNativeServer(t), nil, nil)
	b.Receive(`{"event":"user.create_session"}`)
	b.NextFrame(wire.AgentSessionCreated)
	return b
}

// MetaOf returns the metadata of a frame.
func MetaOf(m wire.Message) wire.Fields { return wire.ParseObject(m.Metadata) }
