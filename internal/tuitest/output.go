package tuitest

import (
	"bytes"
	"sync"
	"testing/synctest"
	"time"
)

// Output is a terminal that keeps the bytes written to it.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *Output) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

func (t *Output) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// Wait lets virtual time pass and everything come to rest.
func Wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
