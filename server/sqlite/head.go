package sqlite

import "zombiezen.com/go/sqlite"

// A head holds the last seqs of a session. Every session has one from creation.
type head struct {
	last     uint64 // seq of the last event, 0 for none
	snapshot int64  // seq of the snapshot, or noSnapshot
}

const noSnapshot = -1

func (h head) sum(n int64) sum { return sum(0).int(n).int(int64(h.last)).int(h.snapshot) }

func (h head) save(conn *sqlite.Conn, n int64) error {
	err := prepare(conn, "INSERT OR REPLACE INTO head (n, last, snapshot, crc) VALUES (?, ?, ?, ?)").
		int(n).int(int64(h.last)).int(h.snapshot).int(int64(h.sum(n))).run()
	return wrap(err, "save head")
}

func headAt(q *statement, col int) head {
	return head{last: uint64(q.intAt(col)), snapshot: q.intAt(col + 1)}
}

func loadHead(conn *sqlite.Conn, n int64) (h head, err error) {
	err = prepare(conn, "SELECT last, snapshot, crc FROM head WHERE n = ?").int(n).one(func(q *statement) error {
		h = headAt(q, 0)
		return q.verify(2, h.sum(n))
	})
	return h, wrap(missingIsCorrupt(err), "head")
}

// saveSnapshot writes a snapshot; data is compressed.
func saveSnapshot(conn *sqlite.Conn, n int64, seq uint64, data []byte) error {
	return prepare(conn, "INSERT OR REPLACE INTO snapshot (n, crc, data) VALUES (?, ?, ?)").
		int(n).int(int64(snapshotSum(n, seq, data))).blob(data).run()
}

// loadSnapshot returns the snapshot that the head has at seq.
func loadSnapshot(conn *sqlite.Conn, n int64, seq uint64) (snapshot []byte, err error) {
	err = prepare(conn, "SELECT crc, data FROM snapshot WHERE n = ?").int(n).one(func(q *statement) (err error) {
		data := q.blobAt(1)
		if err = q.verify(0, snapshotSum(n, seq, data)); err == nil {
			snapshot, err = decompress(nil, data)
		}
		return err
	})
	return snapshot, wrap(missingIsCorrupt(err), "snapshot")
}

func snapshotSum(n int64, seq uint64, data []byte) sum {
	return sum(0).int(n).int(int64(seq)).blob(data)
}
