package server

import (
	"log/slog"
	"time"

	"agentctl/protocol"
	"agentctl/server/login"
	"agentctl/server/session"
)

// Config is what a server needs. Zero values take the defaults named.
type Config struct {
	Session       session.Config // its Store and Agents are required
	Version       string         // of the program, for hello
	Log           *slog.Logger   // nil: none; also the session's, unless that has one
	Limits        Limits
	Dialects      Dialects
	Authenticator *login.Authenticator // of users who log in; nil: there are none
}

// Limits bound what clients may take.
type Limits struct {
	Connections int           // connections and requests at once; 4,096
	Message     int64         // bytes of one message of a client; protocol.MaxMessage
	InFlight    int           // commands under way per connection; 64
	Rate        int           // commands a second per connection, as many at once; any number
	Window      int64         // bytes not acknowledged that a client may ask for at most; 16 MiB
	Write       time.Duration // how long a client may take to receive one message; 60 s
	Heartbeat   time.Duration // between heartbeats of an otherwise silent connection; 30 s
}

func (l *Limits) defaults() {
	if l.Connections == 0 {
		l.Connections = 4096
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
