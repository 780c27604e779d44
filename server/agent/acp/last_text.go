package acp

import (
	"sync"

	"agentctl/protocol"
)

// maxLastText bounds a lastText, in bytes.
const maxLastText = 16 << 10

// A lastText keeps the end of the last text of a turn. Its methods may be called from any goroutine. A
// nil one keeps nothing.
type lastText struct {
	mu   sync.Mutex
	text []byte
}

// add appends text of a part. begins: it is the first of the part, which replaces the last one.
func (l *lastText) add(text string, begins bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if begins {
		l.text = l.text[:0]
	}
	if l.text = append(l.text, text...); len(l.text) > 2*maxLastText {
		l.text = append(l.text[:0], l.text[len(l.text)-maxLastText:]...)
	}
}

// String returns the text.
func (l *lastText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return protocol.ValidText(string(l.text[max(0, len(l.text)-maxLastText):]))
}
