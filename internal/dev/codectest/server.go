package codectest

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Server is a server codec between a native server and a foreign client that the test plays.
type Server struct {
	T       T
	Codec   codec.Codec
	Native  func(line []byte) [][]byte // the native server: answers a line of the codec
	Foreign func(codec.Output)         // takes the frames of an output
	OnEvent func(*protocol.Event)      // gets each event before the codec; may be nil
	Now     time.Time
	Wake    time.Time    // as the codec last asked
	Closed  *codec.Close // by the last output
}

// Open begins a connection.
func (s *Server) Open(end codec.Codec) {
	s.T.Helper()
	s.Codec = end
	s.Deliver(end.Open(s.Now))
}

// Deliver takes an output of the codec.
func (s *Server) Deliver(out codec.Output) {
	s.T.Helper()
	s.Wake, s.Closed = out.Wake, out.Close
	s.Foreign(out)
	for _, line := range out.Native {
		s.ReceiveNative(s.Native(line)...)
	}
}

// ReceiveNative delivers lines of the native server.
func (s *Server) ReceiveNative(lines ...[]byte) {
	s.T.Helper()
	for _, line := range lines {
		if e, _, _ := protocol.DecodeIncoming(line); e != nil && s.OnEvent != nil {
			s.OnEvent(e)
		}
		s.Deliver(s.Codec.Native(s.Now, line))
	}
}

// Receive delivers a frame of the foreign client.
func (s *Server) Receive(frame string) {
	s.T.Helper()
	s.Deliver(s.Codec.Foreign(s.Now, codec.Frame{Data: []byte(frame)}))
}

// Advance lets time pass, and wakes the codec if it is due.
func (s *Server) Advance(d time.Duration) {
	s.T.Helper()
	s.Now = s.Now.Add(d)
	if !s.Wake.IsZero() && !s.Now.Before(s.Wake) {
		s.Deliver(s.Codec.Wake(s.Now))
	}
}

// Last returns the newest of the commands of a verb, and decodes its data if data is not nil.
func Last(t T, commands []protocol.Command, verb protocol.Verb, data any) protocol.Command {
	t.Helper()
	for _, c := range slices.Backward(commands) {
		if c.Command != verb {
			continue
		}
		if data != nil && len(c.Data) > 0 {
			if err := json.Unmarshal(c.Data, data); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	t.Fatalf("no %s was sent", verb)
	return protocol.Command{}
}
