package sqlite

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// A sum is the CRC-32C of the fields of a row. The length of each field precedes its bytes, so
// bytes cannot move between fields undetected.
type sum uint32

// int adds eight bytes one by one. With crc32.Update the bytes would escape to the heap.
func (s sum) int(v int64) sum {
	c := ^uint32(s)
	for range 8 {
		c = castagnoli[byte(c)^byte(v)] ^ c>>8
		v >>= 8
	}
	return sum(^c)
}

func (s sum) blob(b []byte) sum {
	return sum(crc32.Update(uint32(s.int(int64(len(b)))), castagnoli, b))
}

func (s sum) text(t string) sum { return s.blob([]byte(t)) }

// A key is n<<seqBits|seq. Both parts are checked on entry, so a key never reaches into another
// session.
const (
	seqBits   = 40
	maxSeq    = 1<<seqBits - 1
	maxNumber = 1<<(63-seqBits) - 1
)

func key(n int64, seq uint64) int64 { return n<<seqBits | int64(min(seq, maxSeq)) }

func seqOf(key int64) uint64 { return uint64(key) & maxSeq }

func numberOf(key int64) int64 { return key >> seqBits }
