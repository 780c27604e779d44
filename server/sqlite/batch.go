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
		delete(w.cache.sessions, b.Session)
		if err := removeRows(conn, func() error { return removeSession(conn, b.Session) }); err != nil {
			return 0, err
		}
		err := writeAll("insert answer", w.Answers, w.insertAnswer)
		return w.size, err
	}
	for _, step := range []func() error{w.writeSession, w.writeLog, w.writeRows} {
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
		var row sessionRow
		if row, err = loadSession(w.conn, w.Session); err == nil {
			w.n = row.n
			w.applyTo(&row)
			err = row.save(w.conn)
		}
	case !ok:
		w.n, err = sessionNumber(w.conn, w.Session)
	}
	if err == nil && !ok {
		w.head, err = loadHead(w.conn, w.n)
	}
	return err
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
	return writeAll("insert fold", w.Folds, func(f eventlog.Fold) error {
		if f.First == 0 || f.First > f.Last || f.Last > w.head.last {
			return fmt.Errorf("%d to %d is not within events 1 to %d", f.First, f.Last, w.head.last)
		}
		return w.insertRange(insertFold, seqRange{key: key(w.n, f.First), last: f.Last}, f.Line)
	})
}

func (w *batchWriter) insertRange(query string, s seqRange, data []byte) error {
	data = compress(data, &w.compressed)
	w.size += len(data)
	return insertRange(w.conn, query, s, data)
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
	return wrap(saveSnapshot(w.conn, w.n, w.SnapSeq, data), "save snapshot")
}

// writeRows writes the rows that no other row depends on.
func (w *batchWriter) writeRows() error {
	err := writeAll("insert turn", w.Turns, w.insertTurn)
	if err == nil {
		err = writeAll("insert answer", w.Answers, w.insertAnswer)
	}
	if err == nil {
		err = writeAll("insert decision", w.Decisions, w.insertDecision)
	}
	if err == nil {
		err = writeAll("insert blob", w.Blobs, w.insertBlob)
	}
	if err == nil {
		err = writeAll("record process group", w.ProcessGroups, w.recordGroup)
	}
	return err
}

// writeAll writes rows up to the first that fails.
func writeAll[T any](what string, rows []T, write func(T) error) error {
	for _, row := range rows {
		if err := write(row); err != nil {
			return wrap(err, "%s", what)
		}
	}
	return nil
}
