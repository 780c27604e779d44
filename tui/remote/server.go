package remote

import (
	"context"
	"iter"

	"agentctl/protocol"
)

// Server is a server with its sessions, as a client sees it. It may be a Retrier too.
type Server interface {
	// Watch yields a summary of every session, then one of each that changes; a removed session has
	// Deleted set. It ends when ctx does, or yields an error and ends. It is called once.
	Watch(ctx context.Context) iter.Seq2[protocol.Summary, error]

	// Conns yields the state of the connection, then each change of it, until ctx ends. It is called
	// once and panics when the client is broken, as Session.Updates does.
	Conns(ctx context.Context) iter.Seq[Conn]

	// Session returns one session. Do works on it also while nothing reads its Updates.
	Session(id string) Session

	// Agents returns the names of agents that the server offers for new sessions.
	Agents() []string

	// Search searches all sessions. Its errors are those of Session.Do.
	Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error)

	// Create creates a session. Its errors are those of Session.Do.
	Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error)
}
