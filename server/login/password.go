package login

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Cost of a hash: what one guess costs, and the most that a users file may ask for.
const (
	rounds    = 600_000
	maxRounds = 5_000_000
	scheme    = "pbkdf2-sha256"
	keyBytes  = 32
)

// A hash is a password that cannot be read back. It is written SCHEME$ROUNDS$SALT$KEY, the last two in base64.
type hash struct {
	rounds    int
	salt, key []byte
}

// HashPassword makes what a users file holds of a password.
func HashPassword(password string) (string, error) {
	h := hash{rounds: rounds, salt: make([]byte, 16)}
	_, _ = rand.Read(h.salt) // never fails
	key, err := h.of(password)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	h.key = key
	return h.String(), nil
}

func (h hash) of(password string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, h.salt, h.rounds, keyBytes)
}

func (h hash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d$%s$%s", scheme, h.rounds, b64(h.salt), b64(h.key))
}

// fits reports whether it is the hash of password.
func (h hash) fits(password string) bool {
	key, err := h.of(password)
	return err == nil && subtle.ConstantTimeCompare(key, h.key) == 1
}

var errHash = errors.New("not a password hash: write " + scheme + "$ROUNDS$SALT$KEY")

func parseHash(s string) (h hash, err error) {
	fields := strings.Split(s, "$")
	if len(fields) != 4 || fields[0] != scheme {
		return h, errHash
	}
	h.rounds, err = strconv.Atoi(fields[1])
	if err != nil || h.rounds < 1 || h.rounds > maxRounds {
		return h, errHash
	}
	for i, field := range []*[]byte{&h.salt, &h.key} {
		if *field, err = base64.RawStdEncoding.DecodeString(fields[2+i]); err != nil {
			return h, errHash
		}
	}
	if len(h.salt) < 8 || len(h.key) != keyBytes {
		return h, errHash
	}
	return h, nil
}
