package login

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// A recognizer recognizes the passwords that users have logged in with, without the cost of a
// check. It keeps 16 bits of a keyed hash of each: a wrong password is recognized once in 65,536
// times and is checked like every other, and the bits in memory are of little use for guessing.
type recognizer struct {
	key []byte

	mu   sync.Mutex
	tags map[string]uint16 // by user; only right passwords are added
}

func newRecognizer() *recognizer {
	r := &recognizer{key: make([]byte, 32), tags: map[string]uint16{}}
	_, _ = rand.Read(r.key) // never fails
	return r
}

// tag returns the bits of a password. They differ after the hash of the user has changed.
func (r *recognizer) tag(u user, password string) uint16 {
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(u.password.version() + "\n" + password))
	return binary.BigEndian.Uint16(mac.Sum(nil))
}

func (r *recognizer) recognizes(name string, tag uint16) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.tags[name]
	return ok && known == tag
}

// remember adds the bits of a right password.
func (r *recognizer) remember(name string, tag uint16) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tags[name] = tag
}
