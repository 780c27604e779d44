package myagenttest

import (
	"fmt"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A ClientAtServer is a client codec on a MyAgent server that the test plays.
type ClientAtServer struct {
	*Client
	Frames []wire.Message
}

// NewClientAtServer returns a client with a connection.
func NewClientAtServer(t *testing.T, newCodec clientCodec) *ClientAtServer {
	s := &ClientAtServer{Client: NewClient(t, newCodec)}
	s.Connect()
	return s
}

// Connect opens a connection.
func (s *ClientAtServer) Connect() {
	s.Frames = nil
	s.Dial(func(f codec.Frame) {
		m, ok := wire.DecodeMessage(f.Data)
		if !ok {
			s.T.Fatalf("not a frame: %s", f.Data)
		}
		s.Frames = append(s.Frames, m)
	})
}

// Receive delivers frames of the server, a millisecond apart.
func (s *ClientAtServer) Receive(frames ...string) {
	s.T.Helper()
	for _, f := range frames {
		s.Now = s.Now.Add(time.Millisecond)
		s.Client.Receive(f)
	}
}

// TakeSent returns the frames sent since the last call.
func (s *ClientAtServer) TakeSent() []wire.Message {
	frames := s.Frames
	s.Frames = nil
	return frames
}

// LastItem returns the newest item of the transcript.
func (s *ClientAtServer) LastItem() *protocol.Item {
	s.T.Helper()
	turn := s.Transcript.Current()
	if turn == nil || len(turn.Items) == 0 {
		s.T.Fatal("no item")
	}
	return turn.Items[len(turn.Items)-1]
}

// Frame returns a frame of the real system.
func Frame(seq int, event, session, rest string) string {
	return fmt.Sprintf(`{"event":%q,"session_id":%q,"timestamp":"2026-03-01T09:00:00.123456","seq":%d,"event_id":"c1-%d"%s}`, event, session, seq, seq, rest)
}

// AttachedClient returns a client on a real server, with a session called work.
func AttachedClient(t *testing.T, newCodec clientCodec) *ClientAtServer {
	s := NewClientAtServer(t, newCodec)
	s.Receive(`{"event":"system.connected","content":"Connected","metadata":{"connection_id":"c1"},"seq":1,"event_id":"c1-1"}`)
	id := s.Command(protocol.DoSubscribe, "work", protocol.SubscribeData{})
	if m := s.TakeSent(); len(m) != 1 || m[0].Event != wire.UserCreateSession || len(m[0].Metadata) > 0 {
		t.Fatalf("sent %+v", m)
	}
	s.Receive(Frame(3, "agent.session_created", "8202",
		`,"content":"Session created successfully","metadata":{"agent_name":"weather","connection_id":"c1"}`))
	if a, ok := s.Answers[id]; !ok || a.Error != nil {
		t.Fatalf("%t %+v", ok, a.Error)
	}
	if s.State.Session != "8202" || s.State.Agent != "weather" || s.CaughtUp() != 1 {
		t.Fatalf("%+v", s.State)
	}
	return s
}
