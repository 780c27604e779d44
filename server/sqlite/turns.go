package sqlite

import (
	"cmp"
	"context"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

func (w *batchWriter) insertTurn(t eventlog.TurnRow) error {
	k := key(w.n, t.First)
	return prepare(w.conn, `INSERT INTO turn (key, last, turn, message, reason, ended, crc)
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
	before = cmp.Or(before, maxSeq+1)
	err := s.readSession(ctx, id, func(conn *sqlite.Conn, n int64) error {
		q := prepare(conn, "SELECT "+turnColumns+` FROM turn
			WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT ?`).
			int(key(n, 0)).int(key(n, before-1)).int(int64(max(limit, 0)))
		return q.each(func(q *statement) error {
			k, t := turnAt(q, 0)
			turns = append(turns, t)
			return wrap(q.verify(6, turnSum(k, t)), "turn at %d", t.First)
		})
	})
	return turns, wrap(err, "list turns of %s", id)
}
