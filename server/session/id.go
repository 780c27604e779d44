package session

import (
	"crypto/rand"
	"time"
)

// Prefixes of ids, so that a person sees what an id names.
const (
	idSession = "s"
	idTurn    = "t"
	idMessage = "m"
	idRequest = "r"
	idRule    = "rule"
	idHold    = "h"
)

const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz" // 32 letters, none to be mistaken for another

// NewID mints an id of 80 random bits.
func NewID(prefix string) string { return prefix + "_" + random(16) }

// NewEpoch mints an epoch.
func NewEpoch() string { return random(12) }

func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	for i := range b {
		b[i] = idAlphabet[b[i]&31]
	}
	return string(b)
}

// stamp is the time of now as the log has it.
func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
