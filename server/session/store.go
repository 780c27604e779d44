package session

import (
	"context"
	"errors"
	"time"
)

// Store keeps sessions for good. The session package declares it and server/sqlite satisfies it.
//
// Commit has one caller, the committer goroutine; every other method may be called from any goroutine at any time
// and sees what was committed before the call. Byte slices handed in are not kept after the call returns, byte slices
// handed out belong to the caller.
type Store interface {
	// Commit writes all batches in one transaction, in order. When it returns nil all of it survives the death of the
	// process; when it returns an error nothing of it was kept. An error that wraps ErrStoreFailed is final: the store
	// takes no further commit.
	Commit(batches []*Batch) error

	// Sessions returns one record per session without Snapshot, oldest first.
	Sessions(ctx context.Context) ([]Record, error)

	// Session returns one session's record, or ErrNotFound.
	Session(ctx context.Context, id string) (Record, error)

	// Read appends to dst whole event lines with after < seq <= through, oldest first: at least one when there is one,
	// then as many as stay within most bytes. It returns the extended slice and the seq of the last line appended (after,
	// when none). With folded, a run of deltas that lies whole in (after, through] comes as its stored fold instead of
	// its raw events. The bytes are those given to Commit; a row that no longer matches its checksum is ErrCorrupt.
	Read(ctx context.Context, id string, after, through uint64, folded bool, most int, dst []byte) ([]byte, uint64, error)

	// Answer returns the kept answer to a command key, or ErrNotFound.
	Answer(ctx context.Context, key string) (Answer, error)

	// Decision returns how a request of the session was resolved (the data of its approval.resolved event, with who),
	// or ErrNotFound.
	Decision(ctx context.Context, id, request string) ([]byte, error)

	// Turns returns up to limit finished turns whose First is below before (0: no bound), newest first.
	Turns(ctx context.Context, id string, before uint64, limit int) ([]TurnRow, error)

	// Blob returns a session's blob, or ErrNotFound.
	Blob(ctx context.Context, id, blob string) (Blob, error)

	// ProcessGroups returns the process groups that were recorded and not yet ended, of all sessions.
	ProcessGroups(ctx context.Context) ([]ProcessGroup, error)

	// PruneAnswers drops answers kept since before the given time.
	PruneAnswers(ctx context.Context, before time.Time) error

	// Close checkpoints, marks the store as cleanly closed and releases it. No other call may follow.
	Close() error
}

// Errors of a Store, to be tested with errors.Is.
var (
	ErrNotFound    = errors.New("not found")
	ErrCorrupt     = errors.New("stored bytes do not match their checksum")
	ErrStoreFailed = errors.New("store failed")
)

// A Batch is what one session commits at once. Zero fields change nothing.
type Batch struct {
	Session string
	Create  *Record // a new session; Head, Snapshot and Summary are ignored

	Events      []byte // newline-terminated JSON, one line per seq from First to Last without a gap
	First, Last uint64 // 0, 0 when Events is empty

	Folds         []Fold
	Snapshot      []byte // replaces the stored snapshot; the state at SnapshotSeq
	SnapSeq       uint64
	Summary       []byte // replaces the stored summary
	Live          *bool  // whether a turn is under way, so that a restart must look at the session
	Spec          []byte // replaces the stored spec
	Turns         []TurnRow
	Answers       []Answer
	Decisions     []Decision
	Blobs         []Blob
	ProcessGroups []ProcessGroup
	Delete        bool // removes the session and everything of it; only Answers are looked at beside, and kept
}

// A Record is a session's row.
type Record struct {
	ID       string
	Epoch    string
	Created  time.Time
	Spec     []byte // how to run it (agent, cwd, env): private to the server, never sent
	Summary  []byte
	Snapshot []byte
	SnapSeq  uint64
	Head     uint64 // seq of the last event
	Live     bool
}

// A Fold is one line that stands for a run of deltas, First to Last.
type Fold struct {
	First, Last uint64
	Line        []byte // newline-terminated
}

// A TurnRow is the index entry of a finished turn: its events are First to Last.
type TurnRow struct {
	Turn        string
	MessageID   string // of the user message that it answers
	First, Last uint64
	Reason      string
	Ended       time.Time
}

// An Answer is the kept answer to a command key.
type Answer struct {
	Key     string
	Session string
	Hash    []byte // of the command's body: the same key with another body is refused
	Body    []byte
	At      time.Time
}

// A Decision is how one request was resolved.
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

// A Group is a process group of an agent. A batch with Ended set removes the record.
type ProcessGroup struct {
	Session string
	PID     int    // of its leader
	Start   string // the leader's start time as the platform tells it, so that a reused pid is not ended
	Ended   bool
}
