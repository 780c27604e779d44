package tuitest

import (
	"bytes"
	"sync"
	"testing/synctest"
	"time"
)

// Sink is a terminal that keeps the bytes written to it.
type Sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *Sink) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

func (t *Sink) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// Pass lets virtual time pass and everything come to rest.
func Pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
