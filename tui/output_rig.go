package tui

import (
	"bytes"
	"sync"
	"testing/synctest"
	"time"
)

// sink is a terminal that keeps the bytes written to it.
type sink struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *sink) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

func (t *sink) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// pass lets virtual time pass and everything come to rest.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
