package wsclient

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"time"

	"agentctl/protocol"
)

// Options configure a Client. The zero value retries without limit and acknowledges events with
// the server's default window.
type Options struct {
	Token     string // bearer credential; sent only to the host of the URL
	Name      string // user name, unless the credential implies one
	UserAgent string // program name and version, sent with hello

	TLS  *tls.Config                                 // nil: system roots
	Dial func(ctx context.Context) (net.Conn, error) // custom transport; the URL then supplies only host and path

	Dialect        string            // dialect of the server; empty: native protocol
	DialectOptions map[string]string // options of that dialect; an unknown key fails every attempt

	// OneShot declares that the client is closed after a few commands. A dialect then refuses
	// commands whose effect it would have to keep in the client's memory. A server whose sessions
	// end with their connection is refused with ErrEphemeral, if possible without a WebSocket.
	OneShot bool

	MaxAttempts  int            // consecutive failed attempts before the client goes offline; 0: unlimited
	NoRetryFirst bool           // a failure of the first connection is final and ends all pending calls
	Window       int64          // limit of unacknowledged bytes; 0: the server's default; negative: no acks
	Heartbeat    time.Duration  // silence before a ping, and the time limit for its answer; 0: DefaultHeartbeat
	Rand         func() float64 // source of backoff jitter in [0,1); nil: math/rand

	// OnProcess, if not nil, receives the start of the agent of a session that create makes and waits for.
	// It must not block.
	OnProcess func(protocol.AgentProcess)

	// OnFrame, if not nil, receives each message sent or received, and connection notes. Calls
	// are in order and never concurrent. OnFrame must not block.
	OnFrame func(Frame)
}

// DefaultHeartbeat is the default value of Options.Heartbeat.
const DefaultHeartbeat = 10 * time.Second

func (o Options) withDefaults() Options {
	if o.Heartbeat <= 0 {
		o.Heartbeat = DefaultHeartbeat
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}
