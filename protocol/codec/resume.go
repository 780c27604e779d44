package codec

import "sync"

// maxConnections bounds the connections that a ResumeStore remembers.
const maxConnections = 256

// A ResumeStore keeps the state that server codecs of one dialect leave for later connections of
// their clients, for protocols in which a client names its previous connection. It keeps the newest
// connections. It is safe for concurrent use; the values must be too. The zero value is ready.
type ResumeStore struct {
	mu          sync.Mutex
	connections Recent[any]
}

// Put stores v under a connection's id.
func (s *ResumeStore) Put(connection string, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections.Limit = maxConnections
	s.connections.Put(connection, v)
}

// Get returns the value of a connection's id, or nil.
func (s *ResumeStore) Get(connection string) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, _ := s.connections.Get(connection)
	return v
}

// A ClientState holds the state that a client codec leaves for the codec of the client's next
// connection. The codec in use owns it.
type ClientState struct{ Value any }

// ResumeState returns the state that the codec of the previous connection left. Without one, it
// stores and returns a new state. s may be nil.
func ResumeState[T any](s *ClientState, newState func() *T) *T {
	if s == nil {
		return newState()
	}
	if state, ok := s.Value.(*T); ok {
		return state
	}
	state := newState()
	s.Value = state
	return state
}
