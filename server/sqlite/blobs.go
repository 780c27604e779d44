package sqlite

import (
	"context"
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

func insertBlob(conn *sqlite.Conn, n int64, b eventlog.Blob) error {
	return prepare(conn, "INSERT INTO blob (n, id, media, crc, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING").
		int(n).text(b.ID).text(b.MediaType).int(int64(blobSum(n, b))).blob(b.Data).run()
}

func blobSum(n int64, b eventlog.Blob) sum {
	return sum(0).int(n).text(b.ID).text(b.MediaType).blob(b.Data)
}

// Blob returns a blob of a session. It implements session.Store.
func (s *Store) Blob(ctx context.Context, id, blob string) (eventlog.Blob, error) {
	b := eventlog.Blob{ID: blob}
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		n, err := sessionNumber(conn, id)
		if err != nil {
			return err
		}
		q := prepare(conn, "SELECT media, crc, data FROM blob WHERE n = ? AND id = ?").int(n).text(blob)
		defer q.reset()
		if ok, err := q.next(); err != nil {
			return err
		} else if !ok {
			return eventlog.ErrNotFound
		}
		b.MediaType, b.Data = q.textAt(0), q.blobAt(2)
		if q.sumAt(1) != blobSum(n, b) {
			return eventlog.ErrCorrupt
		}
		return nil
	})
	if err != nil {
		return eventlog.Blob{}, fmt.Errorf("load blob %q of %s: %w", blob, id, err)
	}
	return b, nil
}
