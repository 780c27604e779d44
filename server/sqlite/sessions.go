package sqlite

import (
	"context"
	"fmt"

	"zombiezen.com/go/sqlite"

	"agentctl/server/session"
)

// A sessionRow is a row of the table session: a record without its head and snapshot.
type sessionRow struct {
	n int64
	session.Record
}

const sessionColumns = "n, id, epoch, created, live, spec, summary, crc"

func (r *sessionRow) sum() sum {
	live := int64(0)
	if r.Live {
		live = 1
	}
	return sum(0).int(r.n).text(r.ID).text(r.Epoch).int(nanoseconds(r.Created)).int(live).blob(r.Spec).blob(r.Summary)
}

// insert assigns the session number. The checksum covers the number, so insert saves the row again.
func (r *sessionRow) insert(conn *sqlite.Conn) (int64, error) {
	err := prepare(conn, `INSERT INTO session (id, epoch, created, live, spec, summary, crc)
		VALUES (?, '', 0, 0, '', '', 0)`).
		text(r.ID).run()
	if err != nil {
		return 0, fmt.Errorf("create: %w", err)
	}
	r.n = conn.LastInsertRowID()
	if err := checkNumber(r.n); err != nil {
		return 0, err
	}
	return r.n, r.save(conn)
}

func (r *sessionRow) save(conn *sqlite.Conn) error {
	err := prepare(conn, `UPDATE session SET epoch = ?, created = ?, live = ?, spec = ?, summary = ?, crc = ?
		WHERE n = ?`).
		text(r.Epoch).time(r.Created).bool(r.Live).blob(r.Spec).blob(r.Summary).int(int64(r.sum())).int(r.n).run()
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return nil
}

// sessionAt reads sessionColumns of the current row, without verifying them.
func sessionAt(q *statement, col int) sessionRow {
	return sessionRow{n: q.intAt(col), Record: session.Record{
		ID: q.textAt(col + 1), Epoch: q.textAt(col + 2), Created: q.timeAt(col + 3), Live: q.intAt(col+4) == 1,
		Spec: q.blobAt(col + 5), Summary: q.blobAt(col + 6),
	}}
}

// rowAt reads and verifies the current row of a query for sessionColumns.
func rowAt(q *statement) (sessionRow, error) {
	r := sessionAt(q, 0)
	if r.sum() != q.sumAt(7) {
		return r, fmt.Errorf("session %s: %w", r.ID, session.ErrCorrupt)
	}
	return r, nil
}

func loadSession(conn *sqlite.Conn, id string) (sessionRow, error) {
	q := prepare(conn, "SELECT "+sessionColumns+" FROM session WHERE id = ?").text(id)
	defer q.reset()
	if ok, err := q.next(); err != nil {
		return sessionRow{}, err
	} else if !ok {
		return sessionRow{}, session.ErrNotFound
	}
	return rowAt(q)
}

func sessionNumber(conn *sqlite.Conn, id string) (int64, error) {
	q := prepare(conn, "SELECT n FROM session WHERE id = ?").text(id)
	defer q.reset()
	if ok, err := q.next(); err != nil {
		return 0, err
	} else if !ok {
		return 0, session.ErrNotFound
	}
	return q.intAt(0), nil
}

// sessionRows returns all rows, oldest first.
func sessionRows(conn *sqlite.Conn) ([]sessionRow, error) {
	q := prepare(conn, "SELECT "+sessionColumns+" FROM session ORDER BY created, n")
	defer q.reset()
	var rows []sessionRow
	for {
		ok, err := q.next()
		if !ok || err != nil {
			return rows, err
		}
		row, err := rowAt(q)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

// Sessions returns all records without Snapshot, oldest first. It implements session.Store.
func (s *Store) Sessions(ctx context.Context) ([]session.Record, error) {
	var records []session.Record
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		rows, err := sessionRows(conn)
		if err != nil {
			return err
		}
		records = make([]session.Record, 0, len(rows))
		for _, row := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			head, err := loadHead(conn, row.n)
			if err != nil {
				return fmt.Errorf("session %s: %w", row.ID, err)
			}
			row.Head, row.SnapSeq = head.last, uint64(max(head.snapshot, 0))
			records = append(records, row.Record)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return records, nil
}

// Session returns one complete record. It implements session.Store.
func (s *Store) Session(ctx context.Context, id string) (session.Record, error) {
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
		if head.snapshot == noSnapshot {
			return nil
		}
		row.SnapSeq = uint64(head.snapshot)
		row.Snapshot, err = loadSnapshot(conn, row.n, row.SnapSeq)
		return err
	})
	if err != nil {
		return session.Record{}, fmt.Errorf("load session %s: %w", id, err)
	}
	return row.Record, nil
}
