package codec

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// A Codec translates between the native language and a foreign one on one connection. Each dialect has one type for either
// end: at our server's end Native gets the server's events and answers and Foreign what that system's client sends; at our
// client's end Native gets the client's commands and Foreign what that system's server sends. Whoever hosts a codec
// believes to speak with a native peer.
//
// A codec is pure: bytes and time in, bytes out. It has no socket, goroutine or clock; its calls come one at a time, with
// times that never go back. It bounds what it remembers, never panics and never ends a connection because of what one
// message holds, unless the foreign protocol says so.
type Codec interface {
	// Open is called once, before anything else. At the server's end it may say a foreign greeting.
	Open(now time.Time) Output

	// Native translates one native line: an event, an answer or a command.
	Native(now time.Time, line []byte) Output

	// Foreign translates one foreign frame.
	Foreign(now time.Time, f Frame) Output

	// Wake is called when the time of the last Output's Wake has come.
	Wake(now time.Time) Output
}

// A Frame is one WebSocket message.
type Frame struct {
	Data   []byte
	Binary bool
}

// Output is what a codec wants done, in this order.
type Output struct {
	Native  [][]byte  // lines for the native side, without newlines
	Foreign []Frame   // frames for the foreign side
	Close   *Close    // then close the foreign connection
	Wake    time.Time // call Wake then; zero: no more (it replaces the last one)
}

// WakeBy makes the host call Wake at t at the latest. It ignores a zero t.
func (o *Output) WakeBy(t time.Time) {
	if !t.IsZero() && (o.Wake.IsZero() || t.Before(o.Wake)) {
		o.Wake = t
	}
}

// A Close ends a connection with a WebSocket close code.
type Close struct {
	Code   int
	Reason string
}

// A Dialect is one foreign protocol, both ends.
type Dialect struct {
	Name string

	// Server makes the codec of one connection at our server's end.
	Server func(ServerOptions) Codec

	// Client makes the codec of one connection at our client's end.
	Client func(ClientOptions) Codec

	// Messages says finished turns as that system's history endpoint, GET /api/sessions/{id}/messages?after=, does: what is newer
	// than the message after, or all. Nil: it has none.
	Messages func(turns []*protocol.Turn, after string) json.RawMessage

	// TokenInQuery puts our client's credential into ?token= beside the Authorization header.
	TokenInQuery bool

	// AcceptsUnauthorized tells what an HTTP upgrade without a valid credential is answered: true, accept and close with 1008; false, 401.
	AcceptsUnauthorized bool

	// Options are what Door.Options and Call.Options may hold.
	Options []Option

	// HidesQueue: what waits at a server is not told.
	HidesQueue bool

	// Retry is how our client tries again after a lost connection; zero: as natively.
	Retry RetryPolicy
}

// RetryPolicy is how often and how far apart a connection is tried. With the dialect's option "backoff" set to "exponential" each delay
// is twice the one before.
type RetryPolicy struct {
	Attempts int // that fail in a row until nobody tries any more; 0: no end
	Delay    time.Duration
}

// A Door is how a foreign client came in.
type ServerOptions struct {
	Path    string                            // of the URL, behind the mount
	By      protocol.Actor                    // who acts through it
	Role    protocol.Role                     // what they may; the server checks it, a codec may say no sooner
	ID      func(prefix string) string        // mints ids; tests make it predictable
	Agent   func(foreign string) string       // the configured agent for a foreign domain, agent or runtime id; empty: the default
	Options map[string]string                 // of the dialect, from the configuration
	Sign    func(message string) (hex string) // HMAC-SHA256 with the server's secret
	Version string                            // of the server
	Resume  *ResumeStore                      // what connections of this dialect leave for later ones; nil: nothing
}

// A Call is how our client goes out.
type ClientOptions struct {
	URL     string
	Name    string // who we say we are
	ID      func(prefix string) string
	Options map[string]string
	Resume  *ClientState // of this client's connections; never nil

	// PeerIsAgentctl says that the server is one of ours, as it told when it let us in.
	PeerIsAgentctl bool

	// OneShot says that the client is gone after a command or two: what a codec would keep for it, it must not promise.
	OneShot bool
}
