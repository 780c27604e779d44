package sqlite

import (
	"context"
	"errors"
	"maps"
	"slices"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// An inspection reads all rows of a database once, verifies them, and hands the good ones to a
// rebuild. It holds a few words per session and one row at a time.
type inspection struct {
	ctx      context.Context
	conn     *sqlite.Conn
	quick    bool
	damage   func(Damage) error
	progress Progress
	rebuild  *rebuild // nil: verify only
	report   Report

	sessions map[int64]string // ids of the good rows
	heads    map[int64]head   // good ones
	removed  map[int64]bool
	damaged  map[int64]bool // sessions whose row is damaged
	events   eventCursor
	read     int64 // bytes, for progress
	total    int64
}

// An eventCursor is the place of an inspection among the events, which it reads session by session.
type eventCursor struct {
	n       int64   // the session, 0: none
	next    uint64  // seq that its next event must have
	pending []int64 // known sessions after it
}

func (i *inspection) run() (err error) {
	i.sessions, i.heads, i.removed = map[int64]string{}, map[int64]head{}, map[int64]bool{}
	i.damaged = map[int64]bool{}
	if i.total, err = pageBytes(i.conn); err != nil {
		return err
	}
	for _, step := range []func() error{
		i.readRemoved, i.readSessions, i.readHeads, i.readEvents, i.readSnapshots, i.readRest,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// each reads a table: it calls good for valid rows and bad for others. Rows of removed sessions do
// not count.
func (i *inspection) each(t table, good, bad func(q *statement, n int64) error) error {
	return t.each(i.ctx, i.conn, func(q *statement) error {
		i.advance(q)
		switch n, ok := t.valid(q); {
		case i.removed[n] && t.name != removedTable.name:
			return nil
		case ok:
			return good(q, n)
		default:
			return bad(q, n)
		}
	}, func() error { return i.found(Damage{Part: t.name, Detail: "some rows cannot be read"}) })
}

// keep calls write with the rebuild, if there is one.
func (i *inspection) keep(write func(*rebuild) error) error {
	if i.rebuild == nil {
		return nil
	}
	return write(i.rebuild)
}

// advance reports progress, every 4 MiB.
func (i *inspection) advance(q *statement) {
	const step = 4 << 20
	before := i.read / step
	for col := range q.stmt.ColumnCount() {
		i.read += int64(q.stmt.ColumnLen(col))
	}
	if i.progress != nil && i.read/step > before {
		i.progress(min(i.read, i.total), i.total)
	}
}

func (i *inspection) readRemoved() error {
	return i.each(removedTable, func(_ *statement, n int64) error {
		i.removed[n] = true
		return nil
	}, nil)
}

// readSessions reads the rows of the sessions, each with its spec. A session without its spec is
// as good as one without its row.
func (i *inspection) readSessions() error {
	bad := func(n int64, id, detail string) error {
		i.damaged[n] = true
		return i.found(Damage{Part: "session", Session: id, Detail: detail})
	}
	var buf specBuffer
	return i.each(sessionTable, func(q *statement, n int64) error {
		row := sessionAt(q, 1)
		switch err := row.readSpec(i.conn, &buf); {
		case errors.Is(err, eventlog.ErrCorrupt):
			return bad(n, row.ID, "its spec is damaged")
		case err != nil:
			return err
		}
		i.sessions[n] = row.ID
		i.report.Sessions++
		return i.keep(func(r *rebuild) error { return r.addSession(row) })
	}, func(q *statement, n int64) error { return bad(n, sessionAt(q, 1).ID, "its row is damaged") })
}

// readHeads reads the ends of the logs. A head that is missing is reported with the events.
func (i *inspection) readHeads() error {
	return i.each(headTable, func(q *statement, n int64) error {
		i.heads[n] = headAt(q, 2)
		return nil
	}, func(*statement, int64) error { return nil })
}

// readSnapshots verifies the snapshots that heads name.
func (i *inspection) readSnapshots() error {
	t := snapshotTable
	t.valid = func(q *statement) (int64, bool) {
		n := q.intAt(1)
		h, ok := i.heads[n]
		return n, ok && h.snapshot >= 0 && q.sumAt(2) == snapshotSum(n, uint64(h.snapshot), q.blobAt(3))
	}
	found := map[int64]bool{}
	err := i.each(t, func(q *statement, n int64) error {
		found[n] = true
		return i.keep(func(r *rebuild) error { return r.addSnapshot(n, i.heads[n], q) })
	}, func(*statement, int64) error { return nil })
	for _, n := range slices.Sorted(maps.Keys(i.heads)) {
		if err == nil && i.heads[n].snapshot >= 0 && !found[n] {
			err = i.found(Damage{Part: "snapshot", Session: i.sessions[n]})
		}
	}
	return err
}

// readRest reads the tables with independent rows.
func (i *inspection) readRest() error {
	type part struct {
		table
		count *int64
	}
	parts := []part{
		{turnTable, &i.report.Turns},
		{answerTable, &i.report.Answers},
		{decisionTable, &i.report.Decisions},
		{processTable, new(int64)},
	}
	if !i.quick {
		parts = append(parts, part{foldTable, &i.report.Folds}, part{blobTable, &i.report.Blobs})
	}
	for _, p := range parts {
		err := i.each(p.table, func(q *statement, n int64) error {
			*p.count++
			return i.keep(func(r *rebuild) error { return r.copyRow(p.table, n, q) })
		}, func(q *statement, n int64) error {
			d := Damage{Part: p.name, Session: i.sessions[n]}
			if p.key == "key" { // it holds a seq
				r := seqRangeAt(q, 1)
				d.First, d.Last = r.first(), r.last
			}
			return i.found(d)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
