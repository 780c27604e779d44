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

const (
	rounds    = 600_000   // of PBKDF2, for a new hash
	maxRounds = 5_000_000 // accepted in a users file
	scheme    = "pbkdf2-sha256"
	keyBytes  = 32
)

// A hash is the hash of a password. Its text is SCHEME$ROUNDS$SALT$KEY, salt and key in base64.
type hash struct {
	rounds    int
	salt, key []byte
}

// HashPassword returns the hash of a password for a users file.
func HashPassword(password string) (string, error) {
	h := hash{rounds: rounds, salt: make([]byte, 16)}
	_, _ = rand.Read(h.salt) // never fails
	key, err := h.derive(password)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	h.key = key
	return h.String(), nil
}

func (h hash) derive(password string) ([]byte, error) {
	return pbkdf2.Key(sha256.New, password, h.salt, h.rounds, keyBytes)
}

// String returns the text form.
func (h hash) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("%s$%d$%s$%s", scheme, h.rounds, b64(h.salt), b64(h.key))
}

// version identifies the hash in tokens. A new hash of the same password has another version.
func (h hash) version() string {
	sum := sha256.Sum256([]byte("version " + h.String()))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// matches reports whether h is the hash of a password, in constant time.
func (h hash) matches(password string) bool {
	key, err := h.derive(password)
	return err == nil && subtle.ConstantTimeCompare(key, h.key) == 1
}

var errHash = errors.New("not a password hash: want " + scheme + "$ROUNDS$SALT$KEY")

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
