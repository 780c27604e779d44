package sqlite

import (
	"context"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

func insertDecision(conn *sqlite.Conn, n int64, d eventlog.Decision) error {
	return prepare(conn, "INSERT INTO decision (n, request, crc, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING").
		int(n).text(d.Request).int(int64(decisionSum(n, d))).blob(d.Data).run()
}

func decisionSum(n int64, d eventlog.Decision) sum { return sum(0).int(n).text(d.Request).blob(d.Data) }

// Decision returns the resolution of a request. It implements session.Store.
func (s *Store) Decision(ctx context.Context, id, request string) ([]byte, error) {
	d := eventlog.Decision{Request: request}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		n, err := sessionNumber(conn, id)
		if err != nil {
			return err
		}
		q := prepare(conn, "SELECT crc, data FROM decision WHERE n = ? AND request = ?").int(n).text(request)
		defer q.reset()
		if ok, err := q.next(); err != nil {
			return err
		} else if !ok {
			return eventlog.ErrNotFound
		}
		d.Data = q.blobAt(1)
		if q.sumAt(0) != decisionSum(n, d) {
			return eventlog.ErrCorrupt
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load decision on %q of %s: %w", request, id, err)
	}
	return d.Data, nil
}
