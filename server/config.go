package server

import (
	"cmp"
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
	l.Connections = cmp.Or(l.Connections, 4096)
	l.PerSender = cmp.Or(l.PerSender, max(1, l.Connections/4))
	l.Reserve = cmp.Or(l.Reserve, 64)
	l.Unauthenticated = cmp.Or(l.Unauthenticated, 256)
	l.Rate = cmp.Or(l.Rate, 5000)
	l.Message = cmp.Or(l.Message, protocol.MaxMessage)
	l.InFlight = cmp.Or(l.InFlight, 64)
	l.Window = cmp.Or(l.Window, 16<<20)
	l.Write = cmp.Or(l.Write, time.Minute)
	l.Heartbeat = cmp.Or(l.Heartbeat, 30*time.Second)
}
