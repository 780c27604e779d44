package wsclient

import (
	"context"
	"crypto/tls"
	"math/rand/v2"
	"net"
	"time"
)

// Options says how a client connects. The zero value is a client that retries for ever with acks and the default window.
type Options struct {
	Token     string // sent as a bearer credential, to the host of the URL alone
	Name      string // of the person, unless the credential has one
	UserAgent string // of the program

	TLS  *tls.Config                                 // nil: the system's roots
	Dial func(ctx context.Context) (net.Conn, error) // own transport; the URL then only names host and path

	Dialect        string            // that the server speaks; empty: the native protocol
	DialectOptions map[string]string // of that dialect: what its Options list; any other fails every connection
	OneShot        bool              // the client is closed after a command or two: what a dialect would keep for it here is refused

	MaxAttempts  int            // failed attempts in a row until the client is offline, until Retry or Connect; 0: no end
	NoRetryFirst bool           // the first connection is tried once; its failure ends everything that waits for it
	Window       int64          // bytes not acknowledged; 0: the server's default, negative: no acks, no window
	Heartbeat    time.Duration  // of silence before a ping, and how long its answer may take; 0: DefaultHeartbeat
	Rand         func() float64 // of the jitter, in [0,1); nil: math/rand

	OnFrame func(Frame) // sees what goes over the wire, in order and one at a time; it must not block; nil: nobody looks
}

// DefaultHeartbeat is how long a server may be silent before it is asked whether it is there.
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
