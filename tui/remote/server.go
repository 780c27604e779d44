package remote

import (
	"context"
	"iter"

	"agentctl/protocol"
)

// Server is a client's view of a server and its sessions. It may implement Retrier.
type Server interface {
	// Watch yields a summary of every session, then of each session that changes. A removed session
	// has Deleted set. Watch ends with ctx or after yielding an error. It must be called once.
	Watch(ctx context.Context) iter.Seq2[protocol.Summary, error]

	// Conns yields the state of the connection and then each change of it, until ctx ends. It must
	// be called once. Like Session.Updates it panics if the client is broken.
	Conns(ctx context.Context) iter.Seq[Conn]

	// Session returns one session. Its Do works even if its Updates are not read.
	Session(id string) Session

	// Agents returns the names of the agents available for new sessions.
	Agents() []string

	// Sandbox returns the sandbox of a new session for which the user chooses none, or nil if the user can
	// choose none.
	Sandbox() *protocol.Sandbox

	// Search searches all sessions. It returns errors as Session.Do does.
	Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error)

	// Create creates a session. It returns errors as Session.Do does.
	Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error)
}

// Several is a Server of several servers. It is safe for concurrent use.
type Several interface {
	Server

	// Servers returns the names of the servers. The first is home, whose connection Conns yields.
	Servers() []string

	// ServerOf returns the name of a session's server.
	ServerOf(session string) string

	// ServerConns yields the connections of the other servers and each change, until ctx ends. It
	// must be called once.
	ServerConns(ctx context.Context) iter.Seq[ServerConn]

	// AgentsOf is Agents of one server.
	AgentsOf(server string) []string

	// SandboxOf is Sandbox of one server.
	SandboxOf(server string) *protocol.Sandbox

	// CreateOn is Create on one server.
	CreateOn(ctx context.Context, server string, d protocol.CreateData) (protocol.CreateResult, error)
}

// A ServerConn is the connection of one of several servers.
type ServerConn struct {
	Server string // its name
	Conn   Conn
}
