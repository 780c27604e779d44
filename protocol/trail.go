package protocol

import "sync"

// maxTrail bounds how many connections a Trail remembers.
const maxTrail = 256

// A Trail is what the codecs of one dialect at our server's end leave for those of later connections, for protocols in which a
// client names the connection it had before. It keeps the newest and is safe for concurrent use; so must be what is left. The
// zero value is ready.
type Trail struct {
	mu    sync.Mutex
	left  map[string]any
	order []string
}

// Leave leaves v under a connection's id.
func (t *Trail) Leave(connection string, v any) {
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

// Find returns what was left under a connection's id, or nil.
func (t *Trail) Find(connection string) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left[connection]
}
