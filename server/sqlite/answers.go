package sqlite

import (
	"context"
	"time"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// forgetRows is the maximum number of answers that one transaction of PruneAnswers deletes. It
// bounds how long a commit waits for that transaction.
const forgetRows = 500

func (w *batchWriter) insertAnswer(a eventlog.Answer) error {
	a.Session = w.Session
	w.size += len(a.Body)
	return prepare(w.conn, `INSERT INTO answer (key, session, hash, at, crc, body) VALUES (?, ?, ?, ?, ?, ?)
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
		return q.one(func(q *statement) error {
			a = eventlog.Answer{Key: key, Session: q.textAt(0), Hash: q.blobAt(1), At: q.timeAt(2), Body: q.blobAt(4)}
			return q.verify(3, answerSum(a))
		})
	})
	return a, wrap(err, "load answer to %q", key)
}

// PruneAnswers deletes answers stored before the given time. It implements session.Store. Commits
// continue between its transactions.
func (s *Store) PruneAnswers(ctx context.Context, before time.Time) error {
	var err error
	for dropped := forgetRows; dropped == forgetRows && err == nil; {
		if err = ctx.Err(); err != nil {
			break
		}
		err = s.write(func(conn *sqlite.Conn) (int, error) {
			err := prepare(conn, "DELETE FROM answer WHERE rowid IN (SELECT rowid FROM answer WHERE at < ? LIMIT ?)").
				time(before).int(forgetRows).run()
			dropped = conn.Changes()
			return batchOverhead, err
		})
	}
	return wrap(err, "forget answers")
}
