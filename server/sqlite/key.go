package sqlite

import "fmt"

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

func checkNumber(n int64) error {
	if n > maxNumber {
		return fmt.Errorf("session number %d exceeds the maximum %d", n, maxNumber)
	}
	return nil
}
