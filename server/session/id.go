package session

import "crypto/rand"

// Prefixes of ids, one for each kind.
const (
	idSession = "s"
	idTurn    = "t"
	idMessage = "m"
	idRequest = "r"
	idRule    = "rule"
	idHold    = "h"
)

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // 32 characters, none easily mistaken for another

// NewID returns a new id with a prefix and 80 random bits.
func NewID(prefix string) string { return prefix + "_" + random(16) }

// NewEpoch returns a new epoch of 60 random bits.
func NewEpoch() string { return random(12) }

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = idAlphabet[b[i]&31]
	}
	return string(b)
}
