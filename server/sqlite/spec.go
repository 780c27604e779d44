package sqlite

import "zombiezen.com/go/sqlite"

// longSpec is the size in bytes above which a spec has a separate row. It holds the agent's saved
// state, and a row is written as a whole.
const longSpec = 1 << 10

// saveSpec writes a long spec to its own row, else it removes that row. It sets r.Spec to the value
// for the session's row.
func (r *sessionRow) saveSpec(conn *sqlite.Conn) error {
	if len(r.Spec) > longSpec {
		data := compress(r.Spec, new([]byte))
		r.apart, r.Spec = true, nil
		return prepare(conn, "INSERT OR REPLACE INTO spec (n, crc, data) VALUES (?, ?, ?)").
			int(r.n).int(int64(specSum(r.n, data))).blob(data).run()
	}
	if !r.apart {
		return nil
	}
	r.apart = false
	return removeRows(conn, func() error { return prepare(conn, "DELETE FROM spec WHERE n = ?").int(r.n).run() })
}

// A specBuffer is memory for readSpec, which can be used again.
type specBuffer struct{ stored, spec []byte }

// readSpec reads a spec in a separate row. It is called after loadSession.
func (r *sessionRow) readSpec(conn *sqlite.Conn, buf *specBuffer) error {
	if !r.apart {
		return nil
	}
	err := prepare(conn, "SELECT crc, data FROM spec WHERE n = ?").int(r.n).one(func(q *statement) (err error) {
		buf.stored = q.blobTo(1, buf.stored)
		if err = q.verify(0, specSum(r.n, buf.stored)); err == nil {
			buf.spec, err = decompress(buf.spec[:0], buf.stored)
		}
		return err
	})
	r.Spec = buf.spec
	return wrap(missingIsCorrupt(err), "session %s: spec", r.ID)
}

func specSum(n int64, data []byte) sum { return sum(0).int(n).blob(data) }
