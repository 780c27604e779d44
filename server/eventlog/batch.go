package eventlog

import (
	"time"

	"agentctl/server/agent"
)

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
	Live          *bool  // whether work is in progress, so that a restart loads the session
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

// A Blob is a payload too large for an event or the state of an agent.
type Blob = agent.Blob
