package sqlite

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// A rebuild writes the good rows of an inspection to a new database.
type rebuild struct {
	conn    *sqlite.Conn
	options RepairOptions
	ids     map[int64]string  // of the sessions written
	epochs  map[int64]string  // that they had
	ends    map[int64]*logEnd // of their logs
	buf     []byte            // for compress
}

// A logEnd describes a log once it is written.
type logEnd struct {
	last uint64
	lost []seqRange // replaced events
}

func (r *rebuild) known(n int64) bool { return r.ids[n] != "" }

// addSession writes a session under its old number, with a new epoch.
func (r *rebuild) addSession(row sessionRow) error {
	r.epochs[row.n], row.Epoch = row.Epoch, newEpoch()
	err := prepare(r.conn, "INSERT INTO session ("+sessionColumns+") VALUES (?, ?, '', 0, 0, '', '', 0)").
		int(row.n).text(row.ID).run()
	if err != nil {
		return wrap(err, "write session %s", row.ID)
	}
	r.ids[row.n] = row.ID
	return row.save(r.conn)
}

// reportKept calls RepairOptions.Kept for each session, in the order of their creation.
func (r *rebuild) reportKept() error {
	for _, n := range slices.Sorted(maps.Keys(r.ids)) {
		if err := r.options.Kept(r.ids[n], r.epochs[n], r.end(n).last); err != nil {
			return err
		}
	}
	return nil
}

func (r *rebuild) end(n int64) *logEnd {
	if r.ends[n] == nil {
		r.ends[n] = &logEnd{}
	}
	return r.ends[n]
}

// addEvents writes a row of events. A session without a record gets one from its first event.
func (r *rebuild) addEvents(n int64, c seqRange, q *statement) error {
	data := q.blobAt(4)
	if !r.known(n) {
		lines, err := decompress(nil, data)
		if err != nil {
			return err
		}
		row := sessionRow{n: n}
		var ok bool
		if row.Record, ok = r.options.Record(lines[:lineEnd(lines, 1)]); !ok {
			return nil
		}
		if err := r.addSession(row); err != nil {
			return err
		}
		lost := r.end(n).lost
		r.end(n).lost = nil
		for _, l := range lost { // found before the session had a name
			if err := r.addLost(n, l.first(), l.last); err != nil {
				return err
			}
		}
	}
	return insertRange(r.conn, insertChunk, c, data)
}

// addLost writes replacements for lost events.
func (r *rebuild) addLost(n int64, first, last uint64) error {
	end := r.end(n)
	end.lost = append(end.lost, seqRange{key(n, first), last})
	if !r.known(n) {
		return nil
	}
	const most = 512 // events of a row
	for from := first; from <= last; from += most {
		to := min(from+most-1, last)
		data := r.options.Lost(r.ids[n], from, to)
		if lines := uint64(bytes.Count(data, newline)); lines != to-from+1 {
			return fmt.Errorf("%d lines for lost events %d to %d", lines, from, to)
		}
		if err := insertRange(r.conn, insertChunk, seqRange{key(n, from), to}, compress(data, &r.buf)); err != nil {
			return err
		}
	}
	return nil
}

// endLog writes the head of a session, without its snapshot.
func (r *rebuild) endLog(n int64, last uint64) error {
	r.end(n).last = last
	return head{last: last, snapshot: noSnapshot}.save(r.conn, n)
}

// addSnapshot writes a snapshot and its place in the head.
func (r *rebuild) addSnapshot(n int64, h head, q *statement) error {
	if !r.known(n) {
		return nil
	}
	if err := saveSnapshot(r.conn, n, uint64(h.snapshot), q.blobAt(3)); err != nil {
		return err
	}
	return head{last: r.end(n).last, snapshot: h.snapshot}.save(r.conn, n)
}

// copyRow copies an independent row. Folds and turns must lie within the log, and the first event
// of a turn, its message, must not be lost.
func (r *rebuild) copyRow(t table, n int64, q *statement) error {
	switch t.name {
	case answerTable.name:
	case foldTable.name, turnTable.name:
		end, s := r.end(n), seqRangeAt(q, 1)
		if s.last > end.last || t.name == turnTable.name && slices.ContainsFunc(end.lost, func(l seqRange) bool {
			return l.key <= s.key && s.first() <= l.last
		}) {
			return nil
		}
		fallthrough
	default:
		if !r.known(n) {
			return nil
		}
	}
	columns := strings.Count(t.columns, ",") + 1
	insert := prepare(r.conn, fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", t.name, t.columns,
		strings.Repeat(", ?", columns-1)))
	for col := 1; col <= columns; col++ {
		switch q.stmt.ColumnType(col) {
		case sqlite.TypeInteger:
			insert.int(q.intAt(col))
		case sqlite.TypeText:
			insert.text(q.textAt(col))
		default:
			insert.blob(q.blobAt(col))
		}
	}
	return insert.run()
}
