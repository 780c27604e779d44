package sqlite

import (
	"context"
	"fmt"
	"time"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// forgetRows is the maximum number of answers that one transaction of PruneAnswers deletes. It
// bounds how long a commit waits for that transaction.
const forgetRows = 500

func insertAnswer(conn *sqlite.Conn, a eventlog.Answer) error {
	return prepare(conn, `INSERT INTO answer (key, session, hash, at, crc, body) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`).
		text(a.Key).text(a.Session).blob(a.Hash).time(a.At).int(int64(answerSum(a))).blob(a.Body).run()
}

func answerSum(a eventlog.Answer) sum {
	return sum(0).text(a.Key).text(a.Session).blob(a.Hash).int(nanoseconds(a.At)).blob(a.Body)
}

// Answer returns the stored answer to a command key. It implements session.Store.
func (s *Store) Answer(ctx context.Context, key string) (eventlog.Answer, error) {
	var a eventlog.Answer
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		q := prepare(conn, "SELECT session, hash, at, crc, body FROM answer WHERE key = ?").text(key)
		defer q.reset()
		if ok, err := q.next(); err != nil {
			return err
		} else if !ok {
			return eventlog.ErrNotFound
		}
		a = eventlog.Answer{Key: key, Session: q.textAt(0), Hash: q.blobAt(1), At: q.timeAt(2), Body: q.blobAt(4)}
		if q.sumAt(3) != answerSum(a) {
			return eventlog.ErrCorrupt
		}
		return nil
	})
	if err != nil {
		return eventlog.Answer{}, fmt.Errorf("load answer to %q: %w", key, err)
	}
	return a, nil
}

// PruneAnswers deletes answers stored before the given time. It implements session.Store. Commits
// continue between its transactions.
func (s *Store) PruneAnswers(ctx context.Context, before time.Time) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("forget answers: %w", err)
		}
		dropped, err := s.forgetBatch(before)
		if err != nil {
			return fmt.Errorf("forget answers: %w", err)
		}
		if dropped < forgetRows {
			return nil
		}
	}
}

func (s *Store) forgetBatch(before time.Time) (dropped int, err error) {
	err = s.write(func(conn *sqlite.Conn) (int, error) {
		err := prepare(conn, "DELETE FROM answer WHERE rowid IN (SELECT rowid FROM answer WHERE at < ? LIMIT ?)").
			time(before).int(forgetRows).run()
		dropped = conn.Changes()
		return batchOverhead, err
	})
	return dropped, err
}
