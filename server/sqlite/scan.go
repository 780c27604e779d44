package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math"

	"zombiezen.com/go/sqlite"

	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// A table describes how the rows of a table are read and verified one by one.
type table struct {
	name    string
	key     string                           // integer column that orders the table
	columns string                           // all columns except a rowid
	valid   func(q *statement) (int64, bool) // number of the session, and whether the checksum fits; columns begin at 1
}

var (
	sessionTable = table{"session", "n", sessionColumns, func(q *statement) (int64, bool) {
		r := sessionAt(q, 1)
		return r.n, r.sum() == q.sumAt(8)
	}}
	headTable = table{"head", "n", "n, last, snapshot, crc", func(q *statement) (int64, bool) {
		return q.intAt(1), headAt(q, 2).sum(q.intAt(1)) == q.sumAt(4)
	}}
	snapshotTable = table{"snapshot", "n", "n, crc, data", nil} // the checksum covers the head's seq
	chunkTable    = table{"chunk", "key", "key, last, crc, data", validRange}
	foldTable     = table{"fold", "key", "key, last, crc, data", validRange}
	turnTable     = table{"turn", "key", turnColumns, func(q *statement) (int64, bool) {
		k, t := turnAt(q, 1)
		return numberOf(k), q.sumAt(7) == turnSum(k, t)
	}}
	answerTable = table{"answer", "rowid", "key, session, hash, at, crc, body", func(q *statement) (int64, bool) {
		return 0, q.sumAt(5) == answerSum(eventlog.Answer{
			Key: q.textAt(1), Session: q.textAt(2), Hash: q.blobAt(3), At: q.timeAt(4), Body: q.blobAt(6),
		})
	}}
	decisionTable = table{"decision", "rowid", "n, request, crc, data", func(q *statement) (int64, bool) {
		n := q.intAt(1)
		return n, q.sumAt(3) == decisionSum(n, eventlog.Decision{Request: q.textAt(2), Data: q.blobAt(4)})
	}}
	blobTable = table{"blob", "rowid", "n, id, media, crc, data", func(q *statement) (int64, bool) {
		n := q.intAt(1)
		return n, q.sumAt(4) == blobSum(n, eventlog.Blob{ID: q.textAt(2), MediaType: q.textAt(3), Data: q.blobAt(5)})
	}}
	processTable = table{"process", "n", "n, pid, start, crc", func(q *statement) (int64, bool) {
		n := q.intAt(1)
		return n, q.sumAt(4) == groupSum(n, agent.ProcessGroup{PID: int(q.intAt(2)), Start: q.textAt(3)})
	}}
	removedTable = table{"removed", "n", "n", func(q *statement) (int64, bool) { return q.intAt(1), true }}
)

func validRange(q *statement) (int64, bool) {
	r := seqRangeAt(q, 1)
	return numberOf(r.key), q.sumAt(3) == r.sum(q.blobAt(4))
}

// each calls row for each row of the table, ordered by its key, which is column 0; the columns of
// the table follow. It calls damaged at damaged pages, and continues behind them with the first row
// that it finds.
func (t table) each(ctx context.Context, conn *sqlite.Conn, row func(*statement) error, damaged func() error) error {
	for at := int64(math.MinInt64); ; {
		last, err := t.eachFrom(ctx, conn, at, row)
		if refused, ok := errors.AsType[rowError](err); ok {
			return refused.error
		}
		if !errors.Is(err, eventlog.ErrCorrupt) {
			return err
		}
		next, found, err := t.readableAfter(ctx, conn, last)
		if err != nil {
			return err
		}
		if err := damaged(); err != nil || !found {
			return err
		}
		at = next
	}
}

// query returns the query for the rows from a key on.
func (t table) query() string {
	return fmt.Sprintf("SELECT %s, %s FROM %s WHERE %[1]s >= ? ORDER BY %[1]s", t.key, t.columns, t.name)
}

// eachFrom calls row for each row from the key at, and returns the last key that was read.
func (t table) eachFrom(
	ctx context.Context, conn *sqlite.Conn, at int64, row func(*statement) error,
) (last int64, err error) {
	last = at
	err = prepare(conn, t.query()).int(at).each(func(q *statement) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if key := q.intAt(0); key < last {
			return fmt.Errorf("%w: order of %s", eventlog.ErrCorrupt, t.name)
		}
		last = q.intAt(0)
		if err := row(q); err != nil {
			return rowError{err}
		}
		return nil
	})
	return last, err
}

// A rowError is an error of the callback of each. It does not mean that the table is damaged.
type rowError struct{ error }

// readableAfter returns the smallest key found behind the damaged pages that follow the key after.
// It looks in growing steps, then halves the last one. Without a row there, found is false.
func (t table) readableAfter(ctx context.Context, conn *sqlite.Conn, after int64) (next int64, found bool, err error) {
	failed, good := max(after, -1), int64(0)
	for step := int64(1); ; step *= 2 {
		if step <= 0 || failed > math.MaxInt64-step {
			return 0, false, nil
		}
		good = failed + step
		if next, found, err = t.seek(ctx, conn, good); err == nil {
			break
		} else if !errors.Is(err, eventlog.ErrCorrupt) {
			return 0, false, err
		}
		failed = good
	}
	for good-failed > 1 {
		middle := failed + (good-failed)/2
		key, ok, err := t.seek(ctx, conn, middle)
		switch {
		case err == nil:
			good, next, found = middle, key, ok
		case errors.Is(err, eventlog.ErrCorrupt):
			failed = middle
		default:
			return 0, false, err
		}
	}
	return next, found, nil
}

// seek reads the first row from the key at on, and returns its key.
func (t table) seek(ctx context.Context, conn *sqlite.Conn, at int64) (key int64, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return 0, false, err
	}
	err = prepare(conn, t.query()+" LIMIT 1").int(at).each(func(q *statement) error {
		key, found = q.intAt(0), true
		return nil
	})
	return key, found, err
}
