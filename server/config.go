package server

import (
	"log/slog"
	"time"

	"agentctl/protocol"
	"agentctl/server/hook"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/web"
)

// Config configures a Server. Zero values mean the defaults given.
type Config struct {
	Session       session.Config // Store and Agents are required
	Version       string         // of the program, for hello
	Log           *slog.Logger   // nil: discard; also the session's, unless that is set
	Limits        Limits
	Dialects      Dialects
	Authenticator *login.Authenticator // nil: no users log in
	Documents     web.Documents        // nil: sessions are not exported as documents over HTTP
	Hooks         []hook.Hook
	HooksDir      string // for files of hooks; required with Hooks
	SandboxDir    string // for files of sandboxes, which the server removes; empty: no session has a sandbox
}

// Limits bound the resources of clients.
type Limits struct {
	Connections     int           // of known senders; 4,096
	PerSender       int           // connections of one sender, except the owner and admins; a quarter of Connections
	Reserve         int           // connections beyond Connections, for the owner and admins; 64
	Unauthenticated int           // connections of senders that are not known yet; 256
	Message         int64         // bytes of a client's message; protocol.MaxMessage
	InFlight        int           // pending commands per connection; 64
	Rate            int           // commands per second and connection, and the burst; 5,000
	Window          int64         // maximum unacknowledged bytes that a client may ask for; 16 MiB
	Write           time.Duration // for a client to receive one message; 60 s
	Heartbeat       time.Duration // between heartbeats of an otherwise silent connection; 30 s
}

// Sockets returns the maximum number of network connections.
func (l Limits) Sockets() int {
	l.defaults()
	return l.Connections + l.Reserve + l.Unauthenticated
}

func (l *Limits) defaults() {
	if l.Connections == 0 {
		l.Connections = 4096
	}
	if l.PerSender == 0 {
		l.PerSender = max(1, l.Connections/4)
	}
	if l.Reserve == 0 {
		l.Reserve = 64
	}
	if l.Unauthenticated == 0 {
		l.Unauthenticated = 256
	}
	if l.Rate == 0 {
		l.Rate = 5000
	}
	if l.Message == 0 {
		l.Message = protocol.MaxMessage
	}
	if l.InFlight == 0 {
		l.InFlight = 64
	}
	if l.Window == 0 {
		l.Window = 16 << 20
	}
	if l.Write == 0 {
		l.Write = time.Minute
	}
	if l.Heartbeat == 0 {
		l.Heartbeat = 30 * time.Second
	}
}
