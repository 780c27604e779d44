package sqlite

import (
	"fmt"

	"agentctl/server/session"

	"zombiezen.com/go/sqlite"
)

// headOf returns the seq of a session's last event, 0 when it has none.
func headOf(conn *sqlite.Conn, n int64) (uint64, error) {
	q := prepare(conn, "SELECT last, crc FROM head WHERE n = ?").int(n)
	defer q.reset()
	if ok, err := q.next(); !ok || err != nil {
		return 0, err
	}
	last := q.intAt(0)
	if q.sumAt(1) != sum(0).int(n).int(last) {
		return 0, fmt.Errorf("head: %w", session.ErrCorrupt)
	}
	return uint64(last), nil
}

func saveHead(conn *sqlite.Conn, n int64, seq uint64) error {
	last := int64(seq)
	return prepare(conn, "INSERT OR REPLACE INTO head (n, last, crc) VALUES (?, ?, ?)").
		int(n).int(last).int(int64(sum(0).int(n).int(last))).run()
}
