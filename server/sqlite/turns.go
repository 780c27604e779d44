package sqlite

import (
	"context"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

func insertTurn(conn *sqlite.Conn, n int64, t eventlog.TurnRow) error {
	k := key(n, t.First)
	return prepare(conn, `INSERT INTO turn (key, last, turn, message, reason, ended, crc)
		VALUES (?, ?, ?, ?, ?, ?, ?)`).
		int(k).int(int64(t.Last)).text(t.Turn).text(t.MessageID).text(t.Reason).time(t.Ended).
		int(int64(turnSum(k, t))).run()
}

func turnSum(k int64, t eventlog.TurnRow) sum {
	return sum(0).int(k).int(int64(t.Last)).text(t.Turn).text(t.MessageID).text(t.Reason).int(nanoseconds(t.Ended))
}

const turnColumns = "key, last, turn, message, reason, ended, crc"

// turnAt reads turnColumns of the current row, without verifying them.
func turnAt(q *statement, col int) (k int64, t eventlog.TurnRow) {
	k = q.intAt(col)
	return k, eventlog.TurnRow{
		Turn: q.textAt(col + 2), MessageID: q.textAt(col + 3), First: seqOf(k), Last: uint64(q.intAt(col + 1)),
		Reason: q.textAt(col + 4), Ended: q.timeAt(col + 5),
	}
}

// Turns returns finished turns, newest first. It implements session.Store. The error for a missing
// session wraps ErrNotFound.
func (s *Store) Turns(ctx context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error) {
	var turns []eventlog.TurnRow
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		n, err := sessionNumber(conn, id)
		if err != nil {
			return err
		}
		if before == 0 {
			before = maxSeq + 1
		}
		q := prepare(conn, "SELECT "+turnColumns+` FROM turn
			WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?`).
			int(key(n, 0)).int(key(n, before-1)).int(int64(max(limit, 0)))
		defer q.reset()
		for {
			if ok, err := q.next(); !ok || err != nil {
				return err
			}
			k, t := turnAt(q, 0)
			if q.sumAt(6) != turnSum(k, t) {
				return fmt.Errorf("turn at %d: %w", t.First, eventlog.ErrCorrupt)
			}
			turns = append(turns, t)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list turns of %s: %w", id, err)
	}
	return turns, nil
}
