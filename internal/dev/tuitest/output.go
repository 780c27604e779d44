package tuitest

import (
	"bytes"
	"sync"
	"testing/synctest"
	"time"
)

// Output is a terminal that records the bytes written to it. It is safe for concurrent use.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(p)
}

// String returns the recorded bytes.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Wait advances the time of a synctest bubble by d and waits until its goroutines are blocked.
func Wait(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
