package session

import (
	"context"
	"iter"
	"time"

	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// Store persists sessions; server/sqlite implements it.
//
// The rules of eventlog.Store hold for all its methods.
type Store interface {
	eventlog.Store

	// Sessions returns one record per session without Snapshot, in the order of their creation. The
	// byte slices of a record are valid until the next one. An error ends the sequence.
	Sessions(ctx context.Context) iter.Seq2[eventlog.Record, error]

	// Session returns one session's record, or ErrNotFound.
	Session(ctx context.Context, id string) (eventlog.Record, error)

	// Answer returns the stored answer to a command key, or ErrNotFound.
	Answer(ctx context.Context, key string) (eventlog.Answer, error)

	// Decision returns the resolution of a request of the session, as passed to Commit, or
	// ErrNotFound.
	Decision(ctx context.Context, id, request string) ([]byte, error)

	// Turns returns up to limit finished turns whose First is below before (0: no bound), newest
	// first.
	Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error)

	// Blob returns a session's blob, or ErrNotFound.
	Blob(ctx context.Context, id, blob string) (eventlog.Blob, error)

	// ProcessGroups returns the recorded process groups of all sessions that have not ended.
	ProcessGroups(ctx context.Context) ([]agent.ProcessGroup, error)

	// PruneAnswers deletes answers older than a time.
	PruneAnswers(ctx context.Context, before time.Time) error

	// Close checkpoints the store, marks it as cleanly closed and releases it. No call may follow.
	Close() error
}
