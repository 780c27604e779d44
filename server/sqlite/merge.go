package sqlite

import (
	"context"
	"errors"
	"sync"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

const (
	smallChunk = 8 << 10 // stored bytes below which a chunk may be merged with others
	mergeRows  = 4       // fewer small chunks in sequence stay as they are
	maxMerges  = 4096    // turns that wait; the chunks of more stay as they are
)

// selectSmall selects the chunks between two keys, with the data of chunks below a size.
const selectSmall = `SELECT key, last, crc, CASE WHEN length(data) < ?3 THEN data END FROM chunk
	WHERE key BETWEEN ?1 AND ?2 ORDER BY key`

// countSmall counts the chunks between two keys below a size.
const countSmall = "SELECT count(*) FROM chunk WHERE key BETWEEN ? AND ? AND length(data) < ?"

// A turnRange is the range of seqs of a turn that has ended.
type turnRange struct {
	session     string
	first, last uint64
}

// merges are the ended turns whose chunks are to be merged. An agent that writes slower than the
// store commits leaves a chunk for each event, which hardly compresses: merged, they take a fourth
// of the space, and are read together. A store that is closed before leaves them to the next run.
type merges struct {
	waiting chan struct{} // capacity 1: has a value when turns may wait

	mu    sync.Mutex
	turns []turnRange
}

// add adds the turns that a batch ends.
func (m *merges) add(b *eventlog.Batch) {
	if len(b.Turns) == 0 || b.Delete {
		return
	}
	m.mu.Lock()
	for _, t := range b.Turns {
		if len(m.turns) < maxMerges {
			m.turns = append(m.turns, turnRange{b.Session, t.First, t.Last})
		}
	}
	m.mu.Unlock()
	notify(m.waiting)
}

// next returns and removes the oldest turn. It returns false for none.
func (m *merges) next() (t turnRange, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.turns) == 0 {
		m.turns = nil
		return t, false
	}
	t, m.turns = m.turns[0], m.turns[1:]
	return t, true
}

// putBack adds turns before the waiting ones.
func (m *merges) putBack(turns ...turnRange) {
	m.mu.Lock()
	m.turns = append(turns, m.turns...)
	m.mu.Unlock()
	notify(m.waiting)
}

// mergeTurns merges the chunks of all turns that wait.
func (s *Store) mergeTurns(ctx context.Context) error {
	for ctx.Err() == nil {
		t, ok := s.merges.next()
		if !ok {
			return nil
		}
		err := s.mergeTurn(ctx, t)
		if ctx.Err() != nil {
			s.merges.putBack(t)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mergeTurn merges the chunks of a turn, one new chunk in a transaction, so that commits wait for
// milliseconds at most. It ends early, without an error, when ctx does.
func (s *Store) mergeTurn(ctx context.Context, t turnRange) error {
	worth, err := s.isWorthMerging(ctx, t)
	if err != nil {
		return err
	}
	for worth && t.first <= t.last && ctx.Err() == nil {
		if t.first, err = s.mergeChunks(t); err != nil {
			return wrap(err, "merge events of session %s", t.session)
		}
	}
	return nil
}

// isWorthMerging reports whether a turn has enough small chunks.
func (s *Store) isWorthMerging(ctx context.Context, t turnRange) (bool, error) {
	small := int64(0)
	err := s.readSession(ctx, t.session, func(conn *sqlite.Conn, n int64) error {
		q := prepare(conn, countSmall).int(key(n, t.first)).int(key(n, t.last)).int(smallChunk)
		return q.one(func(q *statement) error {
			small = q.intAt(0)
			return nil
		})
	})
	return small >= mergeRows, wrap(ignoreMissing(err), "count chunks of session %s", t.session)
}

// mergeChunks merges the first sequence of small chunks of a range and returns the seq after it. If
// no sequence is left, it returns the seq after the range. It leaves damaged chunks as they are,
// for repair.
func (s *Store) mergeChunks(t turnRange) (next uint64, err error) {
	err = s.write(func(conn *sqlite.Conn) (int, error) {
		next = t.last + 1
		n, err := sessionNumber(conn, t.session)
		if err != nil {
			return 0, ignoreMissing(err)
		}
		run, err := findSmall(conn, key(n, t.first), key(n, t.last))
		if err != nil || run.rows < mergeRows {
			return 0, err
		}
		next = run.last + 1
		err = removeRows(conn, func() error {
			const remove = "DELETE FROM chunk WHERE key BETWEEN ? AND ?"
			return prepare(conn, remove).int(run.key).int(key(n, run.last)).run()
		})
		if err != nil {
			return 0, err
		}
		w := &batchWriter{conn: conn, size: batchOverhead + run.stored, scratch: &s.writer.scratch}
		err = w.insertRange(insertChunk, run.seqRange, run.lines)
		return w.size, err
	})
	return next, err
}

// A chunkRun is a sequence of chunks without a gap whose lines fit one.
type chunkRun struct {
	seqRange
	rows   int
	lines  []byte
	stored int // bytes of the rows
}

// findSmall returns the first sequence of at least mergeRows small chunks between two keys, else
// the last shorter one.
func findSmall(conn *sqlite.Conn, from, through int64) (run chunkRun, err error) {
	q := prepare(conn, selectSmall).int(from).int(through).int(smallChunk)
	defer q.reset()
	var stored, lines []byte
	for {
		ok, err := q.next()
		if !ok || err != nil {
			return run, err
		}
		c := seqRangeAt(q, 0)
		small := !q.stmt.ColumnIsNull(3) && c.last <= seqOf(through)
		if small {
			stored = q.blobTo(3, stored)
			if lines, err = decompress(lines[:0], stored); err != nil || q.sumAt(2) != c.sum(stored) {
				small = false // damaged
			}
		}
		follows := small && run.rows > 0 && c.first() == run.last+1 && len(run.lines)+len(lines) <= chunkBytes
		switch {
		case follows:
			run.last, run.rows, run.lines = c.last, run.rows+1, append(run.lines, lines...)
			run.stored += len(stored)
		case run.rows >= mergeRows:
			return run, nil
		case small:
			run = chunkRun{c, 1, append(run.lines[:0], lines...), len(stored)}
		default:
			run = chunkRun{lines: run.lines[:0]}
		}
	}
}

// ignoreMissing returns nil for the error of a session that was removed.
func ignoreMissing(err error) error {
	if errors.Is(err, eventlog.ErrNotFound) {
		return nil
	}
	return err
}

// saveUnmerged writes the turns that wait for a merge, for the next run. A killed process does not
// call it: the next process ends and merges its open turns, and the few ended ones that still
// waited stay unmerged.
func saveUnmerged(conn *sqlite.Conn, turns []turnRange) error {
	for _, t := range turns {
		n, err := sessionNumber(conn, t.session)
		if ignoreMissing(err) != nil {
			return err
		}
		if err != nil {
			continue
		}
		err = prepare(conn, "INSERT OR REPLACE INTO unmerged (key, last) VALUES (?, ?)").
			int(key(n, t.first)).int(int64(t.last)).run()
		if err != nil {
			return err
		}
	}
	return nil
}

// takeUnmerged removes the turns that the last run left and adds them to the waiting turns, except
// turns of removed sessions.
func (s *Store) takeUnmerged() error {
	turns, err := loadUnmerged(s.writer.conn)
	if err != nil || len(turns) == 0 {
		return err
	}
	s.merges.putBack(turns...)
	return transact(s.writer.conn, func() error { return prepare(s.writer.conn, "DELETE FROM unmerged").run() })
}

func loadUnmerged(conn *sqlite.Conn) (turns []turnRange, err error) {
	q := prepare(conn, "SELECT id, key, last FROM unmerged JOIN session ON n = key >> ? ORDER BY key LIMIT ?").
		int(seqBits).int(maxMerges)
	err = q.each(func(q *statement) error {
		t := turnRange{session: q.textAt(0), first: seqOf(q.intAt(1)), last: uint64(q.intAt(2))}
		if t.first <= t.last && t.last <= maxSeq { // rows have no checksum
			turns = append(turns, t)
		}
		return nil
	})
	return turns, err
}
