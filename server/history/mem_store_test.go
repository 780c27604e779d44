package history

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

// memStore is a session.Store in memory. failRead, if set, is called without the lock before events
// are read.
type memStore struct {
	mu       sync.Mutex
	sessions map[string]*memSession
	failRead func() error
	read     int // bytes of events that Read has returned
}

type memSession struct {
	rec   eventlog.Record
	lines [][]byte // the line of seq i+1
	folds []eventlog.Fold
	turns []eventlog.TurnRow // oldest first
	blobs map[string]eventlog.Blob
}

var _ session.Store = (*memStore)(nil)

func newMemStore() *memStore { return &memStore{sessions: map[string]*memSession{}} }

func (m *memStore) setFailRead(f func() error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failRead = f
}

func (m *memStore) Commit(batches []*eventlog.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range batches {
		if b.Delete {
			delete(m.sessions, b.Session)
			continue
		}
		if b.Create != nil {
			m.sessions[b.Session] = &memSession{rec: *b.Create, blobs: map[string]eventlog.Blob{}}
		}
		s := m.sessions[b.Session]
		if s == nil {
			if len(b.ProcessGroups) > 0 {
				continue
			}
			return fmt.Errorf("commit to unknown session %s", b.Session)
		}
		for line := range bytes.Lines(bytes.Join(b.Events, nil)) {
			s.lines = append(s.lines, slices.Clone(line))
			s.rec.Head++
		}
		if s.rec.Head != b.Last && b.Last != 0 {
			return fmt.Errorf("batch of %s ends at %d, not %d", b.Session, b.Last, s.rec.Head)
		}
		s.folds = append(s.folds, b.Folds...)
		s.turns = append(s.turns, b.Turns...)
		for _, blob := range b.Blobs {
			s.blobs[blob.ID] = blob
		}
		if b.Snapshot != nil {
			s.rec.Snapshot, s.rec.SnapSeq = b.Snapshot, b.SnapSeq
		}
		if b.Summary != nil {
			s.rec.Summary = b.Summary
		}
		if b.Spec != nil {
			s.rec.Spec = b.Spec
		}
		if b.Live != nil {
			s.rec.Live = *b.Live
		}
	}
	return nil
}

func (m *memStore) session(id string) (*memSession, error) {
	if s := m.sessions[id]; s != nil {
		return s, nil
	}
	return nil, eventlog.ErrNotFound
}

func (m *memStore) Sessions(context.Context) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, s := range m.sessions {
			if !yield(s.rec, nil) {
				return
			}
		}
	}
}

func (m *memStore) Session(_ context.Context, id string) (eventlog.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return eventlog.Record{}, err
	}
	return s.rec, nil
}

func (m *memStore) Read(
	_ context.Context, id string, after, through uint64, folded bool, most int, dst []byte,
) ([]byte, uint64, error) {
	if err := m.check(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return nil, 0, err
	}
	through = min(through, s.rec.Head)
	start := len(dst)
	for after < through {
		line, last := s.lines[after], after+1
		if folded {
			if i := slices.IndexFunc(
				s.folds,
				func(f eventlog.Fold) bool { return f.First == after+1 && f.Last <= through },
			); i >= 0 {
				line, last = s.folds[i].Line, s.folds[i].Last
			}
		}
		if len(dst) > start && len(dst)+len(line)-start > most {
			break
		}
		dst, after = append(dst, line...), last
	}
	m.read += len(dst) - start
	return dst, after, nil
}

func (m *memStore) FoldStart(_ context.Context, id string, seq uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return 0, err
	}
	for _, f := range s.folds {
		if f.First <= seq && seq <= f.Last {
			return f.First, nil
		}
	}
	return 0, nil
}

func (m *memStore) check() error {
	m.mu.Lock()
	f := m.failRead
	m.mu.Unlock()
	if f == nil {
		return nil
	}
	return f()
}

func (m *memStore) Turns(_ context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return nil, err
	}
	var list []eventlog.TurnRow
	for _, t := range slices.Backward(s.turns) {
		if len(list) < limit && (before == 0 || t.First < before) {
			list = append(list, t)
		}
	}
	return list, nil
}

func (m *memStore) Blob(_ context.Context, id, blob string) (eventlog.Blob, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return eventlog.Blob{}, err
	}
	b, ok := s.blobs[blob]
	if !ok {
		return eventlog.Blob{}, eventlog.ErrNotFound
	}
	return b, nil
}

func (m *memStore) Answer(context.Context, string) (eventlog.Answer, error) {
	return eventlog.Answer{}, eventlog.ErrNotFound
}

func (m *memStore) Decision(context.Context, string, string) ([]byte, error) {
	return nil, eventlog.ErrNotFound
}

func (m *memStore) ProcessGroups(context.Context) ([]agent.ProcessGroup, error) { return nil, nil }

func (m *memStore) PruneAnswers(context.Context, time.Time) error { return nil }

func (m *memStore) Close() error { return nil }

// takeRead returns the bytes of events that were read since the last call.
func (m *memStore) takeRead() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.read
	m.read = 0
	return n
}

// events returns the raw events of a session.
func (m *memStore) events(t testingT, id string) []protocol.Event {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	return decodeLines(t, bytes.Join(m.sessions[id].lines, nil))
}

func decodeLines(t testingT, lines []byte) []protocol.Event {
	t.Helper()
	var list []protocol.Event
	for line := range protocol.Lines(lines) {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("decode %.200s: %v", line, err)
		}
		list = append(list, e)
	}
	return list
}
