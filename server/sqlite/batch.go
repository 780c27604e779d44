package sqlite

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
)

// A batch is a session.Batch on its way into the database, inside the transaction of its commit.
type batch struct {
	*session.Batch
	conn *sqlite.Conn
	n    int64 // the session's number
	head head  // as the batch leaves it
	size int   // bytes it adds to the log, about
}

// pages is what a batch adds to the log beyond its data: the log takes whole pages, of the chunk and the head at least.
const pages = 3 * 4096

// apply writes one batch and returns about how many bytes that adds to the log.
func apply(conn *sqlite.Conn, b *session.Batch) (int, error) {
	w := &batch{Batch: b, conn: conn, size: pages}
	if b.Delete {
		if err := removeSession(conn, b.Session); err != nil {
			return 0, err
		}
		err := w.answers()
		return w.size, err
	}
	for _, step := range []func() error{
		w.session, w.log, w.turns, w.answers, w.decisions, w.blobs, w.groups,
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	return w.size, nil
}

// session creates or changes the session's own row and learns its number.
func (w *batch) session() (err error) {
	if w.Create != nil {
		row := sessionRow{Record: *w.Create}
		row.ID, row.Summary = w.Session, nil
		w.change(&row)
		w.n, err = row.insert(w.conn)
		return err
	}
	if w.Summary == nil && w.Spec == nil && w.Live == nil {
		w.n, err = sessionNumber(w.conn, w.Session)
		return err
	}
	row, err := loadSession(w.conn, w.Session)
	if err != nil {
		return err
	}
	w.n = row.n
	w.change(&row)
	return row.save(w.conn)
}

func (w *batch) change(row *sessionRow) {
	if w.Summary != nil {
		row.Summary = w.Summary
	}
	if w.Spec != nil {
		row.Spec = w.Spec
	}
	if w.Live != nil {
		row.Live = *w.Live
	}
	w.size += len(row.Summary) + len(row.Spec)
}

// log writes what moves the head or must not reach past it.
func (w *batch) log() (err error) {
	w.head.snapshot = noSnapshot
	if w.Create == nil {
		if w.head, err = loadHead(w.conn, w.n); err != nil {
			return err
		}
	}
	before := w.head
	for _, step := range []func() error{w.events, w.folds, w.snapshot} {
		if err := step(); err != nil {
			return err
		}
	}
	if w.head == before && w.Create == nil {
		return nil
	}
	return w.head.save(w.conn, w.n)
}

func (w *batch) events() error {
	if len(w.Events) == 0 {
		return nil
	}
	if w.First != w.head.last+1 || w.Last > maxSeq {
		return fmt.Errorf("events %d to %d do not follow %d", w.First, w.Last, w.head.last)
	}
	next := w.First
	for rest := w.Events; len(rest) > 0; {
		data, lines := cutChunk(rest)
		if lines == 0 {
			return errors.New("events end within a line")
		}
		rest = rest[len(data):]
		c := span{key: key(w.n, next), last: next + uint64(lines) - 1}
		if err := w.insertSpan(insertChunk, c, data); err != nil {
			return fmt.Errorf("append events: %w", err)
		}
		next = c.last + 1
	}
	if next != w.Last+1 {
		return fmt.Errorf("events %d to %d have %d lines", w.First, w.Last, next-w.First)
	}
	w.head.last = w.Last
	return nil
}

func (w *batch) folds() error {
	for _, f := range w.Folds {
		if f.First == 0 || f.First > f.Last || f.Last > w.head.last {
			return fmt.Errorf("fold %d to %d is not within events 1 to %d", f.First, f.Last, w.head.last)
		}
		if err := w.insertSpan(insertFold, span{key: key(w.n, f.First), last: f.Last}, f.Line); err != nil {
			return fmt.Errorf("keep fold: %w", err)
		}
	}
	return nil
}

func (w *batch) insertSpan(query string, s span, data []byte) error {
	w.size += len(data)
	return prepare(w.conn, query).int(s.key).int(int64(s.last)).int(int64(s.sum(data))).blob(data).run()
}

func (w *batch) snapshot() error {
	if w.Snapshot == nil {
		return nil
	}
	if w.SnapSeq > w.head.last {
		return fmt.Errorf("snapshot at %d is past event %d", w.SnapSeq, w.head.last)
	}
	w.head.snapshot = int64(w.SnapSeq)
	w.size += len(w.Snapshot)
	if err := saveSnapshot(w.conn, w.n, w.SnapSeq, w.Snapshot); err != nil {
		return fmt.Errorf("keep snapshot: %w", err)
	}
	return nil
}

func (w *batch) turns() error {
	for _, t := range w.Turns {
		if err := insertTurn(w.conn, w.n, t); err != nil {
			return fmt.Errorf("keep turn: %w", err)
		}
	}
	return nil
}

func (w *batch) answers() error {
	for _, a := range w.Answers {
		a.Session = w.Session
		w.size += len(a.Body)
		if err := insertAnswer(w.conn, a); err != nil {
			return fmt.Errorf("keep answer: %w", err)
		}
	}
	return nil
}

func (w *batch) decisions() error {
	for _, d := range w.Decisions {
		w.size += len(d.Data)
		if err := insertDecision(w.conn, w.n, d); err != nil {
			return fmt.Errorf("keep decision: %w", err)
		}
	}
	return nil
}

func (w *batch) blobs() error {
	for _, b := range w.Blobs {
		w.size += len(b.Data)
		if err := insertBlob(w.conn, w.n, b); err != nil {
			return fmt.Errorf("keep blob: %w", err)
		}
	}
	return nil
}

func (w *batch) groups() error {
	for _, g := range w.ProcessGroups {
		if err := recordGroup(w.conn, w.n, g); err != nil {
			return fmt.Errorf("record process group: %w", err)
		}
	}
	return nil
}
