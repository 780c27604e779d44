package eventlog

import (
	"errors"
	"fmt"

	"agentctl/protocol"
)

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
