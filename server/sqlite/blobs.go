package sqlite

import (
	"context"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

func (w *batchWriter) insertBlob(b eventlog.Blob) error {
	w.size += len(b.Data)
	return prepare(w.conn, "INSERT INTO blob (n, id, media, crc, data) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING").
		int(w.n).text(b.ID).text(b.MediaType).int(int64(blobSum(w.n, b))).blob(b.Data).run()
}

func blobSum(n int64, b eventlog.Blob) sum {
	return sum(0).int(n).text(b.ID).text(b.MediaType).blob(b.Data)
}

// Blob returns a blob of a session. It implements session.Store.
func (s *Store) Blob(ctx context.Context, id, blob string) (eventlog.Blob, error) {
	b := eventlog.Blob{ID: blob}
	err := s.readSession(ctx, id, func(conn *sqlite.Conn, n int64) error {
		q := prepare(conn, "SELECT media, crc, data FROM blob WHERE n = ? AND id = ?").int(n).text(blob)
		return q.one(func(q *statement) error {
			b.MediaType, b.Data = q.textAt(0), q.blobAt(2)
			return q.verify(1, blobSum(n, b))
		})
	})
	return b, wrap(err, "load blob %q of %s", blob, id)
}
