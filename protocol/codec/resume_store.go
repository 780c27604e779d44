package codec

import "sync"

// maxTrail bounds how many connections a Trail remembers.
const maxTrail = 256

// A Trail is what the codecs of one dialect at our server's end leave for those of later connections, for protocols in which a
// client names the connection it had before. It keeps the newest and is safe for concurrent use; so must be what is left. The
// zero value is ready.
type ResumeStore struct {
	mu    sync.Mutex
	left  map[string]any
	order []string
}

// Put leaves v under a connection's id.
func (t *ResumeStore) Put(connection string, v any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == nil {
		t.left = map[string]any{}
	}
	if _, known := t.left[connection]; !known {
		t.order = append(t.order, connection)
	}
	t.left[connection] = v
	for len(t.order) > maxTrail {
		delete(t.left, t.order[0])
		t.order = t.order[1:]
	}
}

// Get returns what was left under a connection's id, or nil.
func (t *ResumeStore) Get(connection string) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left[connection]
}
