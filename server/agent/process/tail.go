package process

import (
	"strings"
	"sync"
)

// tailSize is the number of bytes of standard error to keep.
const tailSize = 8 << 10

// tail keeps the last bytes written to it. Safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
	cut bool // earlier bytes were dropped
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b[max(0, len(b)-2*tailSize):]...)
	if over := len(t.buf) - tailSize; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
		t.cut = true
	}
	return len(b), nil
}

// String returns the tail from the first complete line, as valid UTF-8.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := string(t.buf)
	if i := strings.IndexByte(s, '\n'); t.cut && i >= 0 {
		s = s[i+1:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
}
