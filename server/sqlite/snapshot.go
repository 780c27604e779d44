package sqlite

import (
	"fmt"

	"agentctl/server/eventlog"

	"zombiezen.com/go/sqlite"
)

// saveSnapshot writes a snapshot; data is compressed.
func saveSnapshot(conn *sqlite.Conn, n int64, seq uint64, data []byte) error {
	return prepare(conn, "INSERT OR REPLACE INTO snapshot (n, crc, data) VALUES (?, ?, ?)").
		int(n).int(int64(snapshotSum(n, seq, data))).blob(data).run()
}

// loadSnapshot returns the snapshot that the head has at seq.
func loadSnapshot(conn *sqlite.Conn, n int64, seq uint64) ([]byte, error) {
	q := prepare(conn, "SELECT crc, data FROM snapshot WHERE n = ?").int(n)
	defer q.reset()
	ok, err := q.next()
	if err != nil {
		return nil, err
	}
	data := q.blobAt(1)
	if !ok || q.sumAt(0) != snapshotSum(n, seq, data) {
		return nil, fmt.Errorf("snapshot: %w", eventlog.ErrCorrupt)
	}
	return decompress(nil, data)
}

func snapshotSum(n int64, seq uint64, data []byte) sum {
	return sum(0).int(n).int(int64(seq)).blob(data)
}
