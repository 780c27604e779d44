package verbtest

import (
	"bytes"
	"sync"
)

// A Screen keeps the output of a screen.
type Screen struct {
	mu  sync.Mutex
	out bytes.Buffer
}

func (b *Screen) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

// Bytes returns what was written until now.
func (b *Screen) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.out.Bytes())
}

// Has reports whether the output has a text, as one piece.
func (b *Screen) Has(text string) bool { return bytes.Contains(b.Bytes(), []byte(text)) }
