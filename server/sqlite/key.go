package sqlite

import "fmt"

// A key is n<<seqBits|seq. Both halves are checked where they enter, so that a key never reaches into another session.
const (
	seqBits   = 40
	maxSeq    = 1<<seqBits - 1
	maxNumber = 1<<(63-seqBits) - 1
)

func key(n int64, seq uint64) int64 { return n<<seqBits | int64(min(seq, maxSeq)) }

func seqOf(key int64) uint64 { return uint64(key) & maxSeq }

func checkNumber(n int64) error {
	if n > maxNumber {
		return fmt.Errorf("session number %d is past the %d that fit", n, maxNumber)
	}
	return nil
}
