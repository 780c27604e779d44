package eventlog

import "context"

// A Store holds the events of sessions.
//
// Only the committer's goroutine calls Commit. Every other method may be called from any goroutine
// at any time and sees all earlier commits. A Store does not keep byte slices it is passed; byte
// slices it returns belong to the caller.
type Store interface {
	Reader

	// Commit writes all batches in one transaction, in order. After nil all of it survives the
	// death of the process; after an error nothing was written. An error that wraps ErrStoreFailed
	// is final: the store accepts no further commit.
	Commit(batches []*Batch) error

	// FoldStart returns the first seq of the stored fold that contains an event; 0 if none does.
	FoldStart(ctx context.Context, id string, seq uint64) (uint64, error)
}

// A Reader reads events of sessions.
type Reader interface {
	// Read appends to dst the event lines with after < seq <= through, oldest first: at most most
	// bytes, but at least one line if there is one. It returns the extended slice and the seq of
	// the last line appended, or after for none. With folded, a run of deltas that lies completely
	// in (after, through] is its stored fold instead of its raw events. The bytes equal those
	// passed to Commit; a row that does not match its checksum is a *CorruptError.
	Read(
		ctx context.Context, id string, after, through uint64, folded bool, most int, dst []byte,
	) ([]byte, uint64, error)
}
