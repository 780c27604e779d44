package tool

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

// known has the files as the model last read or wrote them. Its methods may be called from any
// goroutine.
type known struct {
	restored bool // constant: the model may have read files that are not in hashes

	mu     sync.Mutex
	hashes map[string][sha256.Size]byte // by path
}

// set records the content of a file.
func (k *known) set(p *place, c *content) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hashes == nil {
		k.hashes = map[string][sha256.Size]byte{}
	}
	k.hashes[p.real] = c.hash()
}

// check fails if the model does not know the content of a file.
func (k *known) check(p *place, c *content) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	hash, ok := k.hashes[p.real]
	switch {
	case !c.exists || !ok && k.restored:
		return nil
	case !ok:
		return fmt.Errorf("%s exists: read it before you change it", p.shown)
	case hash != c.hash():
		return fmt.Errorf("%s has changed since you read it: read it again", p.shown)
	}
	return nil
}
