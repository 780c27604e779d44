package drafts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"agentctl/internal/userstate"
)

// Store keeps the drafts of the sessions of one server. Save does not block: one goroutine writes
// the files. A nil *Store keeps nothing.
type Store struct {
	files directory

	mu      sync.Mutex
	pending map[string]Draft // newest drafts that are not in a file, by session
	failed  map[string]error // why writing the pending draft of a session failed
	closed  bool
	changed chan struct{} // capacity 1: pending or closed changed
	done    chan struct{} // closed when the writer has returned
}

// Open returns the store of a server. dir is the directory of the files. With the zero Dir
// the drafts stay in memory.
func Open(dir userstate.Dir, server string) *Store {
	s := &Store{
		files: directory{dir, server}, pending: map[string]Draft{}, failed: map[string]error{},
		changed: make(chan struct{}, 1), done: make(chan struct{}),
	}
	if dir.Path() == "" {
		close(s.done)
		return s
	}
	go s.write()
	return s
}

// Load returns the draft of a session. Without one, or if its file cannot be read, it is empty.
func (s *Store) Load(session string) Draft {
	if s == nil {
		return Draft{}
	}
	s.mu.Lock()
	d, ok := s.pending[session]
	s.mu.Unlock()
	if ok || s.files.dir.Path() == "" {
		return d
	}
	return s.files.read(session)
}

// Save replaces the draft of a session. An empty one removes it.
func (s *Store) Save(session string, d Draft) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.pending[session] = d
	delete(s.failed, session)
	if s.files.dir.Path() == "" && d.Empty() {
		delete(s.pending, session)
	}
	s.mu.Unlock()
	s.wake()
}

// Close writes the last drafts. Its error names the drafts that could not be written. No other
// method may be called afterwards.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wake()
	<-s.done
	if len(s.failed) == 0 {
		return nil
	}
	errs := slices.Collect(maps.Values(s.failed))
	return fmt.Errorf("save unsent messages: %w", errors.Join(errs...))
}

func (s *Store) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// write writes pending drafts until Close.
func (s *Store) write() {
	defer close(s.done)
	for range s.changed {
		for {
			session, d, ok := s.next()
			if !ok {
				break
			}
			s.finish(session, d, s.files.write(session, d))
		}
		s.mu.Lock()
		closed := s.closed
		s.mu.Unlock()
		if closed {
			return
		}
	}
}

// next returns a pending draft whose last write did not fail.
func (s *Store) next() (session string, d Draft, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, d := range s.pending {
		if s.failed[session] == nil {
			return session, d, true
		}
	}
	return "", Draft{}, false
}

// finish records the result of a write. A draft that changed during the write stays pending.
func (s *Store) finish(session string, d Draft, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.pending[session]
	switch {
	case !current.Equal(d):
	case err != nil:
		s.failed[session] = err
	default:
		delete(s.pending, session)
	}
}
