package sqlite

import (
	"errors"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// A batchWriter writes one eventlog.Batch to the database, inside the transaction of its commit.
type batchWriter struct {
	*eventlog.Batch
	conn  *sqlite.Conn
	n     int64 // the session number
	head  head  // the head after the batch
	size  int   // approximate bytes added to the write-ahead log
	cache *sessionCache
	*scratch
}

// A scratch is memory of the writer for one batch after the other.
type scratch struct {
	compressed []byte // for compress
	lines      []byte // of a chunk
}

// batchOverhead is the approximate number of bytes that a batch adds to the write-ahead log beyond
// its data. The log holds whole pages: at least the chunk's and the head's.
const batchOverhead = 3 * 4096

// applyBatch writes one batch and returns the approximate number of bytes added to the write-ahead
// log.
func applyBatch(writer *writer, b *eventlog.Batch) (int, error) {
	conn := writer.conn
	w := &batchWriter{Batch: b, conn: conn, size: batchOverhead, cache: &writer.cache, scratch: &writer.scratch}
	if b.Delete {
		w.cache.remove(b.Session)
		if err := removeRows(conn, func() error { return removeSession(conn, b.Session) }); err != nil {
			return 0, err
		}
		err := w.writeAnswers()
		return w.size, err
	}
	for _, step := range []func() error{
		w.writeSession, w.writeLog, w.writeTurns, w.writeAnswers, w.writeDecisions, w.writeBlobs, w.writeGroups,
	} {
		if err := step(); err != nil {
			return 0, err
		}
	}
	w.cache.put(w.Session, cachedSession{w.n, w.head})
	return w.size, nil
}

// writeSession creates or updates the session row, and sets the session number and the head before
// the batch.
func (w *batchWriter) writeSession() (err error) {
	w.head.snapshot = noSnapshot
	if w.Create != nil {
		row := sessionRow{Record: *w.Create}
		row.ID, row.Summary = w.Session, nil
		w.applyTo(&row)
		w.n, err = row.insert(w.conn)
		return err
	}
	cached, ok := w.cache.sessions[w.Session]
	w.n, w.head = cached.n, cached.head
	switch {
	case w.Summary != nil || w.Spec != nil || w.Live != nil:
		if err := w.updateSession(); err != nil {
			return err
		}
	case !ok:
		if w.n, err = sessionNumber(w.conn, w.Session); err != nil {
			return err
		}
	}
	if !ok {
		w.head, err = loadHead(w.conn, w.n)
	}
	return err
}

func (w *batchWriter) updateSession() error {
	row, err := loadSession(w.conn, w.Session)
	if err != nil {
		return err
	}
	w.n = row.n
	w.applyTo(&row)
	return row.save(w.conn)
}

func (w *batchWriter) applyTo(row *sessionRow) {
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

// writeLog writes events, folds and the snapshot, then the head.
func (w *batchWriter) writeLog() error {
	before := w.head
	for _, step := range []func() error{w.writeEvents, w.writeFolds, w.writeSnapshot} {
		if err := step(); err != nil {
			return err
		}
	}
	if w.head == before && w.Create == nil {
		return nil
	}
	return w.head.save(w.conn, w.n)
}

func (w *batchWriter) writeEvents() error {
	if len(w.Events) == 0 {
		return nil
	}
	if w.First != w.head.last+1 || w.Last > maxSeq {
		return fmt.Errorf("events %d to %d do not follow event %d", w.First, w.Last, w.head.last)
	}
	next, rest := w.First, w.lines[:0]
	for i, lines := range w.Events {
		rest = append(rest, lines...)
		written := 0
		for len(rest)-written >= chunkBytes || len(rest) > written && i == len(w.Events)-1 {
			data, n := splitChunk(rest[written:])
			if n == 0 {
				return errors.New("last event line has no newline")
			}
			c := seqRange{key: key(w.n, next), last: next + uint64(n) - 1}
			if err := w.insertRange(insertChunk, c, data); err != nil {
				return fmt.Errorf("append events: %w", err)
			}
			next = c.last + 1
			written += len(data)
		}
		rest = rest[:copy(rest, rest[written:])]
	}
	if cap(rest) <= keptLines {
		w.lines = rest
	}
	if next != w.Last+1 {
		return fmt.Errorf("events %d to %d have %d lines", w.First, w.Last, next-w.First)
	}
	w.head.last = w.Last
	return nil
}

func (w *batchWriter) writeFolds() error {
	for _, f := range w.Folds {
		if f.First == 0 || f.First > f.Last || f.Last > w.head.last {
			return fmt.Errorf("fold %d to %d is not within events 1 to %d", f.First, f.Last, w.head.last)
		}
		if err := w.insertRange(insertFold, seqRange{key: key(w.n, f.First), last: f.Last}, f.Line); err != nil {
			return fmt.Errorf("insert fold: %w", err)
		}
	}
	return nil
}

func (w *batchWriter) insertRange(query string, s seqRange, data []byte) error {
	data = compress(data, &w.compressed)
	w.size += len(data)
	return prepare(w.conn, query).int(s.key).int(int64(s.last)).int(int64(s.sum(data))).blob(data).run()
}

func (w *batchWriter) writeSnapshot() error {
	if w.Snapshot == nil {
		return nil
	}
	if w.SnapSeq > w.head.last {
		return fmt.Errorf("snapshot at %d is past event %d", w.SnapSeq, w.head.last)
	}
	w.head.snapshot = int64(w.SnapSeq)
	data := compress(w.Snapshot, &w.compressed)
	w.size += len(data)
	if err := saveSnapshot(w.conn, w.n, w.SnapSeq, data); err != nil {
		return fmt.Errorf("save snapshot: %w", err)
	}
	return nil
}

func (w *batchWriter) writeTurns() error {
	for _, t := range w.Turns {
		if err := insertTurn(w.conn, w.n, t); err != nil {
			return fmt.Errorf("insert turn: %w", err)
		}
	}
	return nil
}

func (w *batchWriter) writeAnswers() error {
	for _, a := range w.Answers {
		a.Session = w.Session
		w.size += len(a.Body)
		if err := insertAnswer(w.conn, a); err != nil {
			return fmt.Errorf("insert answer: %w", err)
		}
	}
	return nil
}

func (w *batchWriter) writeDecisions() error {
	for _, d := range w.Decisions {
		w.size += len(d.Data)
		if err := insertDecision(w.conn, w.n, d); err != nil {
			return fmt.Errorf("insert decision: %w", err)
		}
	}
	return nil
}

func (w *batchWriter) writeBlobs() error {
	for _, b := range w.Blobs {
		w.size += len(b.Data)
		if err := insertBlob(w.conn, w.n, b); err != nil {
			return fmt.Errorf("insert blob: %w", err)
		}
	}
	return nil
}

func (w *batchWriter) writeGroups() error {
	for _, g := range w.ProcessGroups {
		if err := recordGroup(w.conn, w.n, g); err != nil {
			return fmt.Errorf("record process group: %w", err)
		}
	}
	return nil
}
