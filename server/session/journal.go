package session

import (
	"encoding/json"
	"fmt"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// A journal writes a session's events: it appends them at head and applies them to the state at
// once, then commits them, one batch at a time; a commit makes them durable and visible. Owned by
// the session's goroutine.
type journal struct {
	log       *Log
	committer *committer
	state     *protocol.State // at head
	committed chan error      // result of the batch in flight; capacity 1

	batch        *Batch // the next batch; nil: empty
	nextTail     commitTail
	inFlight     *Batch // nil: none
	inFlightTail commitTail
	uncommitted  int // bytes appended and not visible

	deltas protocol.DeltaRun // the open run
	active time.Time         // when a turn or a user last made an event: reading is no activity
	line   []byte            // scratch
	delta  protocol.Event    // scratch
}

// A commitTail has the calls that follow a commit.
type commitTail struct {
	list    func() // after a success, before the events are visible; nil: none
	waiters []waiter
}

// A waiter waits for a commit.
type waiter struct {
	// done gets the result. After a failure the session's state is that of the store again, unless
	// the session ends.
	done func(error)

	// refuse is called instead after a failure, when the state cannot be read from the store at
	// once. nil: done waits until it can.
	refuse func(error)
}

// maxUncommitted bounds the bytes appended and not visible. Beyond it the agent blocks.
const maxUncommitted = 1 << 20

// nextBatch returns the batch of the next commit.
func (j *journal) nextBatch() *Batch {
	if j.batch == nil {
		j.batch = &Batch{Session: j.log.session}
	}
	return j.batch
}

// append gives an entry the next seq and, unless it has one, the time; it applies it to the state
// and adds it to the next batch. An entry over protocol.MaxEvent is refused with too_large. The
// event of a delta is valid until the next call, and its data as long as the entry's.
func (j *journal) append(turn string, en *entry) (*protocol.Event, error) {
	e := &j.delta
	if !en.isDelta {
		e = new(protocol.Event) // the state may keep parts of it
	}
	*e = protocol.Event{
		Session: j.log.session, Seq: j.state.Seq + 1, Turn: turn, Task: en.task, Parent: en.parent,
		Time: en.time, Type: en.typ, By: en.by, Data: en.data,
	}
	if e.Time.IsZero() {
		e.Time = timestamp()
	}
	j.line = append(e.AppendJSON(j.line[:0]), '\n')
	if len(j.line) > protocol.MaxEvent {
		return nil, protocol.Errorf(
			protocol.CodeTooLarge,
			"%s: an event holds at most %d bytes",
			en.typ,
			protocol.MaxEvent,
		)
	}
	if err := j.state.Apply(e); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	switch {
	case turn == "" && e.By == nil && !j.active.IsZero():
	case en.time.IsZero():
		j.active = e.Time
	default: // a restored event is older
		j.active = timestamp()
	}
	j.log.append(j.line, en.isDelta)
	b := j.nextBatch()
	if b.First == 0 {
		b.First = e.Seq
	}
	b.Last = e.Seq
	b.Blobs = append(b.Blobs, en.blobs...)
	j.uncommitted += len(j.line)
	j.addDelta(e, en)
	return e, nil
}

// addDelta continues the open run of deltas with an event, or ends the run and starts the next.
func (j *journal) addDelta(e *protocol.Event, en *entry) {
	if en.isDelta && len(en.delta.Text) <= protocol.MaxJoined {
		if j.deltas.Add(e, en.delta) {
			return
		}
		j.endRun()
		j.deltas.Add(e, en.delta)
		return
	}
	j.endRun()
}

// endRun ends the open run of deltas and adds its fold to the next batch.
func (j *journal) endRun() {
	if j.deltas.Len() > 1 {
		fold := j.deltas.Event()
		line := fold.AppendJSON(make([]byte, 0, len(fold.Data)+record.Envelope))
		b := j.nextBatch()
		b.Folds = append(b.Folds, Fold{First: fold.First(), Last: fold.Seq, Line: append(line, '\n')})
	}
	j.deltas.Reset()
}

// afterCommit calls f once everything appended so far is visible, or with the error of the failed
// commit.
func (j *journal) afterCommit(f func(error)) { j.wait(waiter{done: f}) }

// wait is afterCommit for a waiter.
func (j *journal) wait(w waiter) {
	switch {
	case j.batch != nil:
		j.nextTail.waiters = append(j.nextTail.waiters, w)
	case j.inFlight != nil:
		j.inFlightTail.waiters = append(j.inFlightTail.waiters, w)
	default:
		w.done(nil)
	}
}

// beforeVisible calls f before everything appended so far becomes visible, so that a client that
// saw an event or got an answer finds its effect in the list of sessions. A later f replaces it. A
// failed commit drops it.
func (j *journal) beforeVisible(f func()) {
	switch {
	case j.batch != nil:
		j.nextTail.list = f
	case j.inFlight != nil:
		j.inFlightTail.list = f
	default:
		f()
	}
}

// flush submits the next batch, unless one is in flight.
func (j *journal) flush() {
	if j.batch == nil || j.inFlight != nil {
		return
	}
	j.inFlight, j.inFlightTail = j.takeBatch(), j.nextTail
	j.nextTail = commitTail{}
	j.committer.submit(j.inFlight, func(err error) { j.committed <- err })
}

// takeBatch returns the next batch with its events, whose bytes are those of the log.
func (j *journal) takeBatch() *Batch {
	b := j.batch
	j.batch = nil
	if b.Last != 0 {
		b.Events = j.log.lines(b.First, b.Last)
	}
	return b
}

// finishCommit notes the result of the batch in flight and returns its waiters. After an error
// everything appended since is invalid: the waiters of the next batch are returned too, and the
// caller must reload the state.
func (j *journal) finishCommit(err error) []waiter {
	waiters := j.inFlightTail.waiters
	if err == nil {
		if j.inFlightTail.list != nil {
			j.inFlightTail.list()
		}
		if j.inFlight.Last != 0 {
			j.log.publish(j.inFlight.Last)
		}
		if n := len(j.inFlight.Folds); n > 0 {
			j.log.setFolds(j.inFlight.Folds[n-1].Last)
		}
		j.uncommitted -= j.inFlight.Size()
	} else {
		waiters = append(waiters, j.discardPending()...)
		j.uncommitted = 0
		j.deltas.Reset()
		j.log.rollback()
	}
	j.inFlight, j.inFlightTail = nil, commitTail{}
	return waiters
}

// discardPending drops the next batch and returns its waiters.
func (j *journal) discardPending() []waiter {
	waiters := j.nextTail.waiters
	j.batch, j.nextTail = nil, commitTail{}
	return waiters
}

// encodeState encodes a state as stored and sent in snapshots.
func encodeState(s *protocol.State) json.RawMessage { return protocol.MustEncode(s) }
