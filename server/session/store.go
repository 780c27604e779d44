package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

// Store persists sessions; server/sqlite implements it.
//
// Only the committer goroutine calls Commit. Every other method may be called from any goroutine at
// any time and sees all earlier commits. A Store does not keep byte slices it is passed; byte
// slices it returns belong to the caller.
type Store interface {
	// Commit writes all batches in one transaction, in order. After nil all of it survives the
	// death of the process; after an error nothing was written. An error that wraps ErrStoreFailed
	// is final: the store accepts no further commit.
	Commit(batches []*Batch) error

	// Sessions returns one record per session without Snapshot, in the order of their creation. The
	// byte slices of a record are valid until the next one. An error ends the sequence.
	Sessions(ctx context.Context) iter.Seq2[Record, error]

	// Session returns one session's record, or ErrNotFound.
	Session(ctx context.Context, id string) (Record, error)

	// Read appends to dst the event lines with after < seq <= through, oldest first: at least one
	// if there is one, and no more than fit most bytes. It returns the extended slice and the seq
	// of the last line appended, or after for none. With folded, a run of deltas that lies
	// completely in (after, through] is its stored fold instead of its raw events. The bytes equal
	// those passed to Commit; a row that does not match its checksum is a *CorruptError.
	Read(
		ctx context.Context,
		id string,
		after, through uint64,
		folded bool,
		most int,
		dst []byte,
	) ([]byte, uint64, error)

	// FoldStart returns the first seq of the stored fold that contains an event; 0 if none does.
	FoldStart(ctx context.Context, id string, seq uint64) (uint64, error)

	// Answer returns the stored answer to a command key, or ErrNotFound.
	Answer(ctx context.Context, key string) (Answer, error)

	// Decision returns the resolution of a request of the session, as passed to Commit, or
	// ErrNotFound.
	Decision(ctx context.Context, id, request string) ([]byte, error)

	// Turns returns up to limit finished turns whose First is below before (0: no bound), newest
	// first.
	Turns(ctx context.Context, id string, before uint64, limit int) ([]TurnRow, error)

	// Blob returns a session's blob, or ErrNotFound.
	Blob(ctx context.Context, id, blob string) (Blob, error)

	// ProcessGroups returns the recorded process groups of all sessions that have not ended.
	ProcessGroups(ctx context.Context) ([]agent.ProcessGroup, error)

	// PruneAnswers deletes answers older than a time.
	PruneAnswers(ctx context.Context, before time.Time) error

	// Close checkpoints the store, marks it as cleanly closed and releases it. No call may follow.
	Close() error
}

// Errors of a Store, for errors.Is.
var (
	ErrNotFound    = errors.New("not found")
	ErrCorrupt     = errors.New("stored bytes do not match their checksum")
	ErrStoreFailed = errors.New("store failed")
	ErrFull        = errors.New("the disk is full")
	ErrReadOnly    = errors.New("the disk or the file is read-only")
)

// A CorruptError reports events of a session that the store cannot read. It wraps ErrCorrupt.
type CorruptError struct{ First, Last uint64 }

func (e *CorruptError) Error() string {
	return fmt.Sprintf("events %d to %d: %s", e.First, e.Last, ErrCorrupt)
}

// Unwrap returns ErrCorrupt.
func (e *CorruptError) Unwrap() error { return ErrCorrupt }

// ReadErrorFor returns the error for a client that cannot read a session: corrupt for damage, with
// the seqs of damaged events, else storage_unavailable. The caller logs err.
func ReadErrorFor(id string, err error) *protocol.Error {
	var damaged *CorruptError
	switch {
	case errors.As(err, &damaged):
		return protocol.Errorf(protocol.CodeCorrupt, "events %d to %d of session %s are damaged",
			damaged.First, damaged.Last, id)
	case errors.Is(err, ErrCorrupt):
		return protocol.Errorf(protocol.CodeCorrupt, "a part of session %s is damaged", id)
	}
	return protocol.Errorf(protocol.CodeStorage, "session %s cannot be read; see the server's log", id)
}

// A Batch holds the changes of one session in one commit. Zero fields change nothing.
type Batch struct {
	Session string
	Create  *Record // a new session; Head, Snapshot and Summary are ignored

	Events      [][]byte // newline-terminated JSON, one line per seq from First to Last without a gap
	First, Last uint64   // 0, 0 when Events is empty

	Folds         []Fold
	Snapshot      []byte // replaces the stored snapshot; the state at SnapSeq
	SnapSeq       uint64
	Summary       []byte // replaces the stored summary
	Live          *bool  // whether work is under way, so that a restart loads the session
	Spec          []byte // replaces the stored spec
	Turns         []TurnRow
	Answers       []Answer
	Decisions     []Decision
	Blobs         []Blob
	ProcessGroups []agent.ProcessGroup
	Delete        bool // removes the session and all its rows; of the other fields only Answers count
}

// Size returns the bytes of the events.
func (b *Batch) Size() int {
	n := 0
	for _, lines := range b.Events {
		n += len(lines)
	}
	return n
}

// A Record is the stored row of a session.
type Record struct {
	ID       string
	Epoch    string
	Created  time.Time
	Spec     []byte // encoded Spec; never sent to clients
	Summary  []byte
	Snapshot []byte
	SnapSeq  uint64
	Head     uint64 // seq of the last event
	Live     bool
}

// A Fold is one event line that replaces a run of deltas, First to Last.
type Fold struct {
	First, Last uint64
	Line        []byte // newline-terminated
}

// A TurnRow is the index entry of a finished turn: its events are First to Last.
type TurnRow struct {
	Turn        string
	MessageID   string // of its user message
	First, Last uint64
	Reason      string
	Ended       time.Time
}

// An Answer is the stored answer to a command key.
type Answer struct {
	Key     string
	Session string
	Hash    []byte // of the command's body; the same key with another body is refused
	Body    []byte
	At      time.Time
}

// A Decision is the stored resolution of a request.
type Decision struct {
	Request string
	Data    []byte
}

// A Blob is a payload too large for an event. ID is unique within its session.
type Blob struct {
	ID        string
	MediaType string
	Data      []byte
}
