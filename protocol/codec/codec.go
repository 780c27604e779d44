package codec

import "time"

// A Codec translates between the native protocol and a foreign one on one connection. Each dialect
// has one type per end. At agentctl's server, Native takes the server's events and answers, and
// Foreign the messages of a foreign client. At agentctl's client, Native takes the client's
// commands, and Foreign the messages of a foreign server. To its host, a codec looks like a native
// peer.
//
// A codec has no socket, goroutine or clock: bytes and time in, bytes out. Calls come one at a
// time, with times that do not decrease. A codec bounds its memory and never panics. It closes a
// connection because of a message only where the foreign protocol requires it.
type Codec interface {
	// Open is the first call. A server codec may greet the foreign client in it.
	Open(now time.Time) Output

	// Native translates one native line: an event, an answer or a command.
	Native(now time.Time, line []byte) Output

	// Foreign translates one foreign frame.
	Foreign(now time.Time, f Frame) Output

	// Wake is called at the time of the last Output's Wake.
	Wake(now time.Time) Output
}

// A Frame is one WebSocket message.
type Frame struct {
	Data   []byte
	Binary bool
}

// Output is the result of a codec's call. The host carries it out in the order of the fields.
type Output struct {
	Native  [][]byte  // lines for the native side, without newlines
	Foreign []Frame   // frames for the foreign side
	Close   *Close    // close the foreign connection
	Wake    time.Time // when to call Wake; replaces the previous one; zero: never
}

// WakeBy sets Wake to t, unless Wake is earlier or t is zero.
func (o *Output) WakeBy(t time.Time) {
	if !t.IsZero() && (o.Wake.IsZero() || t.Before(o.Wake)) {
		o.Wake = t
	}
}

// A Close closes a connection with a WebSocket close code.
type Close struct {
	Code   int
	Reason string
}
