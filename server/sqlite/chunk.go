package sqlite

import (
	"bytes"

	"zombiezen.com/go/sqlite"
)

// chunkBytes is the maximum size of a chunk with more than one line. It bounds the cost of reading
// one event.
const chunkBytes = 64 << 10

const (
	insertChunk = "INSERT INTO chunk (key, last, crc, data) VALUES (?, ?, ?, ?)"
	insertFold  = "INSERT INTO fold (key, last, crc, data) VALUES (?, ?, ?, ?)"

	// The chunks from the one with seq ?2, or the first, to the one with seq ?3.
	selectChunks = `SELECT key, last, crc, data FROM chunk
		WHERE key BETWEEN coalesce((SELECT max(key) FROM chunk WHERE key BETWEEN ?1 AND ?2), ?1) AND ?3
		ORDER BY key`
	selectFolds  = "SELECT key, last, crc, data FROM fold WHERE key BETWEEN ? AND ? ORDER BY key"
	selectFoldAt = "SELECT key, last FROM fold WHERE key BETWEEN ? AND ? ORDER BY key DESC LIMIT 1"
)

// A seqRange is the range of seqs that a chunk or fold row covers: from the seq of its key to last.
type seqRange struct {
	key  int64
	last uint64
}

func (s seqRange) first() uint64 { return seqOf(s.key) }

func (s seqRange) sum(data []byte) sum { return sum(0).int(s.key).int(int64(s.last)).blob(data) }

// seqRangeAt reads the range of the current row from two columns. The checksum is verified when the
// data is loaded.
func seqRangeAt(q *statement, col int) seqRange {
	return seqRange{key: q.intAt(col), last: uint64(q.intAt(col + 1))}
}

// insertRange writes a row of events or a fold; data is compressed.
func insertRange(conn *sqlite.Conn, query string, s seqRange, data []byte) error {
	return prepare(conn, query).int(s.key).int(int64(s.last)).int(int64(s.sum(data))).blob(data).run()
}

// splitChunk returns whole lines from the front of data, at least one if there is one, and their
// number.
func splitChunk(data []byte) ([]byte, int) {
	window := data[:min(len(data), chunkBytes)]
	end := bytes.LastIndexByte(window, '\n') + 1
	if end == 0 {
		end = len(window) + bytes.IndexByte(data[len(window):], '\n') + 1
		if end == len(window) {
			return nil, 0
		}
	}
	return data[:end], bytes.Count(data[:end], []byte{'\n'})
}
