package eventlog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"agentctl/protocol"
)

// A Journal writes the events of a session: it appends them at head and commits them, one batch at a
// time; a commit makes them durable, then visible. One goroutine owns it, which also owns the state
// that the events lead to.
type Journal struct {
	log       *Log
	committer *Committer
	committed chan error // result of the batch in flight; capacity 1

	next        *pending // nil: empty
	inFlight    *pending // nil: none
	uncommitted int      // bytes appended and not visible

	deltas protocol.DeltaRun // the open run
	line   []byte            // scratch
	delta  protocol.Event    // scratch
}

// NewJournal returns a journal that appends to a log at its end.
func NewJournal(log *Log, committer *Committer) *Journal {
	return &Journal{log: log, committer: committer, committed: make(chan error, 1)}
}

// An Entry is an event that fits the log but has no seq yet.
type Entry struct {
	Type   protocol.Type
	Turn   string
	Task   string
	Parent string
	Time   time.Time // zero: when it is appended
	By     *protocol.Actor
	Data   json.RawMessage
	Delta  protocol.Delta // that Data encodes; no Kind: not a delta
	Blobs  []Blob
}

// A pending is a batch with the calls that follow its commit.
type pending struct {
	Batch
	list    func() // after a success, before the events are visible; nil: none
	waiters []Waiter
}

// A Waiter waits for a commit.
type Waiter struct {
	// Done gets the result. After a failure the session's state is reloaded from the store, unless
	// the session ends.
	Done func(error)

	// Refuse is called instead after a failure, when the state cannot be read from the store within
	// a second. nil: Done waits until it can.
	Refuse func(error)
}

// Uncommitted returns the bytes appended and not visible.
func (j *Journal) Uncommitted() int { return j.uncommitted }

// Idle reports whether everything is committed.
func (j *Journal) Idle() bool { return j.next == nil && j.inFlight == nil }

// Release frees memory that reading from the store makes unnecessary, while everything is committed.
func (j *Journal) Release() {
	j.log.release()
	j.line = nil
}

// Log returns the log.
func (j *Journal) Log() *Log { return j.log }

// NextBatch returns the batch of the next commit, to which the caller may add rows.
func (j *Journal) NextBatch() *Batch {
	if j.next == nil {
		j.next = &pending{Batch: Batch{Session: j.log.session}}
	}
	return &j.next.Batch
}

// PendingBatch returns the batch of the next commit, or nil if it is empty.
func (j *Journal) PendingBatch() *Batch {
	if j.next == nil {
		return nil
	}
	return &j.next.Batch
}

// Append gives an entry the seq after the state's and, unless it has one, the time; it applies it to
// the state and adds it to the next batch. An entry over protocol.MaxEvent is refused with
// too_large. The event of a delta is valid until the next call, and its data as long as the entry's.
func (j *Journal) Append(state *protocol.State, en *Entry) (*protocol.Event, error) {
	e := &j.delta
	if en.Delta.Kind == "" {
		e = new(protocol.Event) // the state may keep parts of it
	}
	*e = protocol.Event{
		Session: j.log.session, Seq: state.Seq + 1, Turn: en.Turn, Task: en.Task, Parent: en.Parent,
		Time: en.Time, Type: en.Type, By: en.By, Data: en.Data,
	}
	if e.Time.IsZero() {
		e.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	j.line = append(e.AppendJSON(j.line[:0]), '\n')
	if len(j.line) > protocol.MaxEvent {
		return nil, protocol.Errorf(protocol.CodeTooLarge,
			"%s: an event holds at most %d bytes", en.Type, protocol.MaxEvent)
	}
	if err := state.Apply(e); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	j.log.append(j.line, en.Delta.Kind != "")
	b := j.NextBatch()
	if b.First == 0 {
		b.First = e.Seq
	}
	b.Last = e.Seq
	b.Blobs = append(b.Blobs, en.Blobs...)
	j.uncommitted += len(j.line)
	j.addDelta(e, &en.Delta)
	return e, nil
}

// addDelta continues the open run of deltas with an event, or ends the run and starts the next.
func (j *Journal) addDelta(e *protocol.Event, d *protocol.Delta) {
	joins := d.Kind != "" && len(d.Text) <= protocol.MaxJoined
	if joins && j.deltas.Add(e, *d) {
		return
	}
	j.endRun()
	if joins {
		j.deltas.Add(e, *d)
	}
}

// FoldRun ends the open run of deltas if it is long, so that later readers of the log read it
// folded.
func (j *Journal) FoldRun() {
	if j.deltas.Len() > catchUpDistance {
		j.endRun()
	}
}

// foldEnvelope is the room in bytes for the fields of a fold other than its data.
const foldEnvelope = 4 << 10

// endRun ends the open run of deltas and adds its fold to the next batch.
func (j *Journal) endRun() {
	if j.deltas.Len() > 1 {
		fold := j.deltas.Event()
		line := fold.AppendJSON(make([]byte, 0, len(fold.Data)+foldEnvelope))
		b := j.NextBatch()
		b.Folds = append(b.Folds, Fold{First: fold.First(), Last: fold.Seq, Line: append(line, '\n')})
	}
	j.deltas.Reset()
}

// AfterCommit calls f once everything appended so far is visible, or with the error of the failed
// commit.
func (j *Journal) AfterCommit(f func(error)) { j.Wait(Waiter{Done: f}) }

// Wait is AfterCommit for a waiter.
func (j *Journal) Wait(w Waiter) {
	if p := cmp.Or(j.next, j.inFlight); p != nil {
		p.waiters = append(p.waiters, w)
		return
	}
	w.Done(nil)
}

// BeforeVisible calls f before everything appended so far becomes visible, so that a client that
// saw an event or got an answer finds its effect in the list of sessions. A later f replaces it. A
// failed commit drops it.
func (j *Journal) BeforeVisible(f func()) {
	if p := cmp.Or(j.next, j.inFlight); p != nil {
		p.list = f
		return
	}
	f()
}

// Flush submits the next batch, unless one is in flight. Its result comes from Committed.
func (j *Journal) Flush() {
	if j.next == nil || j.inFlight != nil {
		return
	}
	j.committer.Submit(j.take(), func(err error) { j.committed <- err })
}

// take moves the next batch into flight, with its events, which share the bytes of the log.
func (j *Journal) take() *Batch {
	j.inFlight, j.next = j.next, nil
	b := &j.inFlight.Batch
	if b.Last != 0 {
		b.Events = j.log.lines(b.First, b.Last)
	}
	return b
}

// Committed returns the channel with the result of the batch in flight, which the owner passes to
// FinishCommit.
func (j *Journal) Committed() <-chan error { return j.committed }

// FinishCommit notes the result of the batch in flight and returns its waiters. After an error
// everything appended since is invalid: the waiters of the next batch are returned too, and the
// caller must reload the state.
func (j *Journal) FinishCommit(err error) []Waiter {
	done := j.inFlight
	waiters := done.waiters
	if err == nil {
		if done.list != nil {
			done.list()
		}
		if done.Last != 0 {
			j.log.publish(done.Last)
		}
		if n := len(done.Folds); n > 0 {
			j.log.folds.Store(done.Folds[n-1].Last)
		}
		j.uncommitted -= done.Size()
	} else {
		waiters = append(waiters, j.DiscardPending()...)
		j.uncommitted = 0
		j.deltas.Reset()
		j.log.rollback()
	}
	j.inFlight = nil
	return waiters
}

// DiscardPending drops the next batch and returns its waiters.
func (j *Journal) DiscardPending() []Waiter {
	if j.next == nil {
		return nil
	}
	waiters := j.next.waiters
	j.next = nil
	return waiters
}
