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
