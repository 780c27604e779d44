package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// A sessionRow is a row of the table session: a record without its head and snapshot.
type sessionRow struct {
	n     int64
	apart bool // the spec has a separate row; Spec is nil until readSpec
	eventlog.Record
}

// Bits of the column live.
const (
	liveBit  = 1
	apartBit = 2
)

func (r *sessionRow) bits() int64 {
	bits := int64(0)
	if r.Live {
		bits |= liveBit
	}
	if r.apart {
		bits |= apartBit
	}
	return bits
}

const sessionColumns = "n, id, epoch, created, live, spec, summary, crc"

func (r *sessionRow) sum() sum {
	return sum(0).int(r.n).text(r.ID).text(r.Epoch).int(nanoseconds(r.Created)).int(r.bits()).
		blob(r.Spec).blob(r.Summary)
}

// insert assigns the session number. The checksum covers the number, so insert saves the row again.
func (r *sessionRow) insert(conn *sqlite.Conn) (int64, error) {
	err := prepare(conn, `INSERT INTO session (id, epoch, created, live, spec, summary, crc)
		VALUES (?, '', 0, 0, '', '', 0)`).
		text(r.ID).run()
	if err != nil {
		return 0, wrap(err, "create")
	}
	r.n = conn.LastInsertRowID()
	if r.n > maxNumber {
		return 0, fmt.Errorf("session number %d exceeds the maximum %d", r.n, maxNumber)
	}
	return r.n, r.save(conn)
}

// save writes the row and, if it is set, a spec that has a separate row.
func (r *sessionRow) save(conn *sqlite.Conn) error {
	if r.Spec != nil {
		if err := r.saveSpec(conn); err != nil {
			return fmt.Errorf("save spec: %w", err)
		}
	}
	err := prepare(conn, `UPDATE session SET epoch = ?, created = ?, live = ?, spec = ?, summary = ?, crc = ?
		WHERE n = ?`).
		text(r.Epoch).time(r.Created).int(r.bits()).blob(r.Spec).blob(r.Summary).int(int64(r.sum())).int(r.n).run()
	return wrap(err, "save")
}

// sessionAt reads sessionColumns of the current row, without verifying them.
func sessionAt(q *statement, col int) sessionRow {
	return sessionWith(q, col, q.blobAt(col+5), q.blobAt(col+6))
}

// sessionWith is sessionAt with blobs that have been read.
func sessionWith(q *statement, col int, spec, summary []byte) sessionRow {
	bits := q.intAt(col + 4)
	return sessionRow{n: q.intAt(col), apart: bits&apartBit != 0, Record: eventlog.Record{
		ID: q.textAt(col + 1), Epoch: q.textAt(col + 2), Created: q.timeAt(col + 3), Live: bits&liveBit != 0,
		Spec: spec, Summary: summary,
	}}
}

// loadSession reads the row of a session, but not a spec in a separate row.
func loadSession(conn *sqlite.Conn, id string) (r sessionRow, err error) {
	q := prepare(conn, "SELECT "+sessionColumns+" FROM session WHERE id = ?").text(id)
	err = q.one(func(q *statement) error {
		r = sessionAt(q, 0)
		return wrap(q.verify(7, r.sum()), "session %s", r.ID)
	})
	return r, err
}

func sessionNumber(conn *sqlite.Conn, id string) (n int64, err error) {
	err = prepare(conn, "SELECT n FROM session WHERE id = ?").text(id).one(func(q *statement) error {
		n = q.intAt(0)
		return nil
	})
	return n, err
}

// selectSessions selects the rows of all sessions in the order of their creation, each with its
// head. A sort would write the rows to a file.
const selectSessions = "SELECT " + sessionColumns + `, last, snapshot, head_crc
	FROM session LEFT JOIN (SELECT n AS of, last, snapshot, crc AS head_crc FROM head) ON of = n ORDER BY n`

// eachSession calls f with the record of each session without Snapshot. The byte slices of a record
// are valid until f returns.
func eachSession(ctx context.Context, conn *sqlite.Conn, f func(*eventlog.Record) error) error {
	var spec, summary []byte
	var apart specBuffer
	return prepare(conn, selectSessions).each(func(q *statement) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		spec, summary = q.blobTo(5, spec), q.blobTo(6, summary)
		r := sessionWith(q, 0, spec, summary)
		if err := q.verify(7, r.sum()); err != nil {
			return wrap(err, "session %s", r.ID)
		}
		h := headAt(q, 8)
		if q.stmt.ColumnIsNull(10) || q.sumAt(10) != h.sum(r.n) {
			return fmt.Errorf("session %s: head: %w", r.ID, eventlog.ErrCorrupt)
		}
		if err := r.readSpec(conn, &apart); err != nil {
			return err
		}
		r.Head, r.SnapSeq = h.last, uint64(max(h.snapshot, 0))
		return f(&r.Record)
	})
}

// errStopped ends an iteration.
var errStopped = errors.New("stopped")

// Sessions returns all records without Snapshot. It implements session.Store.
func (s *Store) Sessions(ctx context.Context) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		err := s.read(ctx, func(conn *sqlite.Conn) error {
			return eachSession(ctx, conn, func(r *eventlog.Record) error {
				if !yield(*r, nil) {
					return errStopped
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(eventlog.Record{}, fmt.Errorf("list sessions: %w", err))
		}
	}
}

// Session returns one complete record. It implements session.Store.
func (s *Store) Session(ctx context.Context, id string) (eventlog.Record, error) {
	var row sessionRow
	err := s.read(ctx, func(conn *sqlite.Conn) (err error) {
		if row, err = loadSession(conn, id); err != nil {
			return err
		}
		head, err := loadHead(conn, row.n)
		if err != nil {
			return err
		}
		row.Head = head.last
		if err := row.readSpec(conn, new(specBuffer)); err != nil {
			return err
		}
		if head.snapshot == noSnapshot {
			return nil
		}
		row.SnapSeq = uint64(head.snapshot)
		row.Snapshot, err = loadSnapshot(conn, row.n, row.SnapSeq)
		return err
	})
	return row.Record, wrap(err, "load session %s", id)
}
