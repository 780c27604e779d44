package sqlite

import (
	"fmt"

	"agentctl/server/session"

	"zombiezen.com/go/sqlite"
)

func saveSnapshot(conn *sqlite.Conn, n int64, seq uint64, data []byte) error {
	return prepare(conn, "INSERT OR REPLACE INTO snapshot (n, seq, crc, data) VALUES (?, ?, ?, ?)").
		int(n).int(int64(seq)).int(int64(snapshotSum(n, seq, data))).blob(data).run()
}

// loadSnapshot returns nothing for a session that has none yet.
func loadSnapshot(conn *sqlite.Conn, n int64) ([]byte, uint64, error) {
	q := prepare(conn, "SELECT seq, crc, data FROM snapshot WHERE n = ?").int(n)
	defer q.reset()
	if ok, err := q.next(); !ok || err != nil {
		return nil, 0, err
	}
	seq, data := uint64(q.intAt(0)), q.blobAt(2)
	if q.sumAt(1) != snapshotSum(n, seq, data) {
		return nil, 0, fmt.Errorf("snapshot: %w", session.ErrCorrupt)
	}
	return data, seq, nil
}

// snapshotSeq is what loadSnapshot says of seq, for lists: unverified, because that takes reading the data.
func snapshotSeq(conn *sqlite.Conn, n int64) (uint64, error) {
	q := prepare(conn, "SELECT seq FROM snapshot WHERE n = ?").int(n)
	defer q.reset()
	if ok, err := q.next(); !ok || err != nil {
		return 0, err
	}
	return uint64(q.intAt(0)), nil
}

func snapshotSum(n int64, seq uint64, data []byte) sum {
	return sum(0).int(n).int(int64(seq)).blob(data)
}
