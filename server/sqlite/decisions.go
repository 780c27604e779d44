package sqlite

import (
	"context"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

func (w *batchWriter) insertDecision(d eventlog.Decision) error {
	w.size += len(d.Data)
	return prepare(w.conn, "INSERT INTO decision (n, request, crc, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING").
		int(w.n).text(d.Request).int(int64(decisionSum(w.n, d))).blob(d.Data).run()
}

func decisionSum(n int64, d eventlog.Decision) sum { return sum(0).int(n).text(d.Request).blob(d.Data) }

// Decision returns the resolution of a request. It implements session.Store.
func (s *Store) Decision(ctx context.Context, id, request string) ([]byte, error) {
	d := eventlog.Decision{Request: request}
	err := s.readSession(ctx, id, func(conn *sqlite.Conn, n int64) error {
		q := prepare(conn, "SELECT crc, data FROM decision WHERE n = ? AND request = ?").int(n).text(request)
		return q.one(func(q *statement) error {
			d.Data = q.blobAt(1)
			return q.verify(0, decisionSum(n, d))
		})
	})
	return d.Data, wrap(err, "load decision on %q of %s", request, id)
}
