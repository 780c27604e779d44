package sqlite

import "bytes"

// chunkBytes bounds a chunk of more than one line, so that reading one event costs a bounded read.
const chunkBytes = 64 << 10

const (
	insertChunk = "INSERT INTO chunk (key, last, crc, data) VALUES (?, ?, ?, ?)"
	insertFold  = "INSERT INTO fold (key, last, crc, data) VALUES (?, ?, ?, ?)"

	// From the chunk that holds the seq of ?2, or the first one, to the one that holds the seq of ?3.
	selectChunks = `SELECT key, last, crc, data FROM chunk
		WHERE key BETWEEN coalesce((SELECT max(key) FROM chunk WHERE key BETWEEN ?1 AND ?2), ?1) AND ?3
		ORDER BY key`
	selectFolds = "SELECT key, last, crc, data FROM fold WHERE key BETWEEN ? AND ? ORDER BY key"
)

// A span is a row of bytes that covers the seqs from its key's to last: a chunk or a fold.
type seqRange struct {
	key  int64
	last uint64
}

func (s seqRange) first() uint64 { return seqOf(s.key) }

func (s seqRange) sum(data []byte) sum { return sum(0).int(s.key).int(int64(s.last)).blob(data) }

// seqRangeAt reads the span of the current row, unverified until spanBytes has its data.
func seqRangeAt(q *statement) seqRange { return seqRange{key: q.intAt(0), last: uint64(q.intAt(1))} }

// splitChunk cuts whole lines off the front of data, at least one when there is one, and counts them.
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
