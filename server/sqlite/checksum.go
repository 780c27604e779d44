package sqlite

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A sum is the CRC-32C over a row's fields. Each field is preceded by its length, so that bytes cannot move from one
// to the next unseen.
type sum uint32

func (s sum) int(v int64) sum {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	return sum(crc32.Update(uint32(s), castagnoli, b[:]))
}

func (s sum) blob(b []byte) sum {
	return sum(crc32.Update(uint32(s.int(int64(len(b)))), castagnoli, b))
}

func (s sum) text(t string) sum { return s.blob([]byte(t)) }
