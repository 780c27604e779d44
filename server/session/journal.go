package session

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// A journal is how a session writes: events are appended at head and folded into the state at once, and one commit after
// the other makes them durable and then visible. It belongs to the session's goroutine.
type journal struct {
	log       *Log
	committer *committer
	state     *protocol.State // at head
	committed chan error      // of the batch in flight; capacity 1

	batch  *Batch            // what the next commit takes; nil: nothing
	after  []func(error)     // what waits for the next commit
	flying []func(error)     // what waits for the commit in flight
	inAir  *Batch            // the batch in flight; nil: none
	unseen int               // bytes appended and not visible
	deltas protocol.DeltaRun // the open run
	line   []byte            // scratch
}

// maxUnseen bounds what may be appended and not visible: beyond it the agent waits.
const maxUnseen = 1 << 20

// pending returns the batch that the next commit takes.
func (j *journal) pending() *Batch {
	if j.batch == nil {
		j.batch = &Batch{Session: j.log.session}
	}
	return j.batch
}

// append gives an entry the next seq, folds it into the state and puts it into the next commit.
func (j *journal) append(turn string, en entry) (*protocol.Event, error) {
	e := &protocol.Event{
		Session: j.log.session, Seq: j.state.Seq + 1, Turn: turn, Task: en.task, Parent: en.parent,
		Time: stamp(), Type: en.typ, By: en.by, Data: en.data,
	}
	j.line = append(e.AppendJSON(j.line[:0]), '\n')
	if len(j.line) > protocol.MaxEvent {
		return nil, protocol.Errorf(protocol.CodeTooLarge, "%s: an event holds at most %d bytes", en.typ, protocol.MaxEvent)
	}
	if err := j.state.Apply(e); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	j.log.append(j.line)
	b := j.pending()
	if b.First == 0 {
		b.First = e.Seq
	}
	b.Last = e.Seq
	b.Events = append(b.Events, j.line...)
	b.Blobs = append(b.Blobs, en.blobs...)
	j.unseen += len(j.line)
	j.join(e, en)
	return e, nil
}

// join keeps the open run of deltas: an event continues it, or ends it and may start the next.
func (j *journal) join(e *protocol.Event, en entry) {
	if en.fold && len(en.delta.Text) <= protocol.MaxJoined {
		if j.deltas.Add(e, en.delta) {
			return
		}
		j.cut()
		j.deltas.Add(e, en.delta)
		return
	}
	j.cut()
}

// cut ends the open run of deltas; its fold is stored with the next commit.
func (j *journal) cut() {
	if j.deltas.Len() > 1 {
		fold := j.deltas.Event()
		b := j.pending()
		b.Folds = append(b.Folds, Fold{First: fold.First(), Last: fold.Seq, Line: append(fold.AppendJSON(nil), '\n')})
	}
	j.deltas.Reset()
}

// then calls f once everything appended so far is visible, or with the error when it could not be kept.
func (j *journal) then(f func(error)) {
	switch {
	case j.batch != nil:
		j.after = append(j.after, f)
	case j.inAir != nil:
		j.flying = append(j.flying, f)
	default:
		f(nil)
	}
}

// flush hands the next commit in, unless one is in flight.
func (j *journal) flush() {
	if j.batch == nil || j.inAir != nil {
		return
	}
	j.inAir, j.flying = j.batch, j.after
	j.batch, j.after = nil, nil
	j.committer.submit(j.inAir, func(err error) { j.committed <- err })
}

// settle takes note of how the commit in flight ended and returns who waited for it. After an error nothing that was
// appended holds any more: whoever waits for the next commit is returned too, and the caller reloads the state.
func (j *journal) settle(err error) []func(error) {
	waiters := j.flying
	if err == nil {
		if j.inAir.Last != 0 {
			j.log.publish(j.inAir.Last)
		}
		j.unseen -= len(j.inAir.Events)
	} else {
		waiters = append(waiters, j.drop()...)
		j.unseen = 0
		j.deltas.Reset()
		j.log.rollback()
	}
	j.inAir, j.flying = nil, nil
	return waiters
}

// drop forgets what no commit has taken, and returns who waits for it.
func (j *journal) drop() []func(error) {
	waiters := j.after
	j.batch, j.after = nil, nil
	return waiters
}

// encodeState encodes the state as a snapshot is stored and sent.
func encodeState(s *protocol.State) json.RawMessage { return protocol.MustEncode(s) }
