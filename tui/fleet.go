package tui

import (
	"context"
	"iter"

	"agentctl/protocol"
)

// Fleet is the sessions of a server as a client sees them. What is asked of one of them is asked through Session. It may be a
// Retrier, too.
type Fleet interface {
	// Watch yields a summary of every session, then of each that changes; one
	// that is gone is Deleted. It ends when ctx does, or with an error that it
	// yields last. It is called once.
	Watch(ctx context.Context) iter.Seq2[protocol.Summary, error]

	// Links yields how the connection is, then each change of that, until ctx
	// ends. It is called once.
	Links(ctx context.Context) iter.Seq[Link]

	// Session is one of them. It is followed while its Updates are drawn; Do
	// works without.
	Session(id string) Session

	// Agents are the names of agents that a new session may have, as the server
	// told; a session may have others too.
	Agents() []string

	// Search looks through all of them. Its errors are those of Session.Do.
	Search(ctx context.Context, d protocol.SearchData) (protocol.SearchResult, error)

	// Create makes a session. Its errors are those of Session.Do.
	Create(ctx context.Context, d protocol.CreateData) (protocol.CreateResult, error)
}
