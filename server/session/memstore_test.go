package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
)

// memStore is a Store in memory that checks batches. A test can make it slow, failing or dead.
type memStore struct {
	mu       sync.Mutex
	sessions map[string]*memSession
	order    []string
	answers  map[string]eventlog.Answer
	groups   []agent.ProcessGroup
	broken   error // error of all further commits

	latency    time.Duration // of a commit
	committing bool
	failCommit func([]*eventlog.Batch) error
	failRead   func() error
	slowPrune  bool     // PruneAnswers takes as long as it may
	faults     []string // invalid batches
}

type memSession struct {
	rec       eventlog.Record
	lines     [][]byte // by seq-1
	folds     []eventlog.Fold
	turns     []eventlog.TurnRow
	decisions map[string][]byte
	blobs     map[string]eventlog.Blob
}

var _ Store = (*memStore)(nil)

func newMemStore() *memStore {
	return &memStore{sessions: map[string]*memSession{}, answers: map[string]eventlog.Answer{}}
}

// set changes fields with the lock held.
func (m *memStore) set(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

// errDead is the error of a killed store.
var errDead = fmt.Errorf("killed: %w", eventlog.ErrStoreFailed)

// kill makes the store refuse further commits, as if its process had died. revived returns a new
// store with the same data.
func (m *memStore) kill() { m.set(func() { m.broken = errDead }) }

func (m *memStore) revived() *memStore {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memStore{
		sessions: m.sessions,
		order:    m.order,
		answers:  m.answers,
		groups:   m.groups,
		latency:  m.latency,
		faults:   m.faults,
	}
}

func (m *memStore) Commit(batches []*eventlog.Batch) error {
	m.mu.Lock()
	wait := m.latency
	m.committing = true
	m.mu.Unlock()
	if wait > 0 {
		time.Sleep(wait)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.committing = false
	if m.broken != nil {
		return m.broken
	}
	if m.failCommit != nil {
		if err := m.failCommit(batches); err != nil {
			if errors.Is(err, eventlog.ErrStoreFailed) {
				m.broken = err
			}
			return err
		}
	}
	for _, b := range batches {
		if err := m.check(b); err != nil {
			m.faults = append(m.faults, err.Error())
			return err
		}
	}
	for _, b := range batches {
		m.keep(b)
	}
	return nil
}

// check refuses a batch that does not continue its session.
func (m *memStore) check(b *eventlog.Batch) error {
	s := m.sessions[b.Session]
	if s == nil && b.Create == nil && len(b.ProcessGroups) == 0 {
		return fmt.Errorf("batch for the unknown session %s", b.Session)
	}
	if b.Last == 0 {
		return nil
	}
	head := uint64(0)
	if s != nil {
		head = s.rec.Head
	}
	if b.First != head+1 {
		return fmt.Errorf("batch starts at %d after %d", b.First, head)
	}
	next := b.First
	for line := range bytes.Lines(bytes.Join(b.Events, nil)) {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("line %d: %w", next, err)
		}
		if e.Seq != next || e.Session != b.Session {
			return fmt.Errorf("line %d has seq %d of %s", next, e.Seq, e.Session)
		}
		if len(line) > protocol.MaxEvent {
			return fmt.Errorf("line %d has %d bytes", next, len(line))
		}
		next++
	}
	if next != b.Last+1 {
		return fmt.Errorf("batch to %d has lines to %d", b.Last, next-1)
	}
	return nil
}

func (m *memStore) keep(b *eventlog.Batch) {
	if b.Delete {
		delete(m.sessions, b.Session)
		maps.DeleteFunc(m.answers, func(_ string, a eventlog.Answer) bool { return a.Session == b.Session })
		m.order = slices.DeleteFunc(m.order, func(id string) bool { return id == b.Session })
		return
	}
	s := m.sessions[b.Session]
	if s == nil && b.Create != nil {
		s = &memSession{rec: *b.Create, decisions: map[string][]byte{}, blobs: map[string]eventlog.Blob{}}
		s.rec.ID, s.rec.Head, s.rec.Snapshot, s.rec.Summary = b.Session, 0, nil, nil
		m.sessions[b.Session], m.order = s, append(m.order, b.Session)
	}
	for _, g := range b.ProcessGroups {
		m.groups = slices.DeleteFunc(
			m.groups,
			func(k agent.ProcessGroup) bool { return k.PID == g.PID && k.Start == g.Start },
		)
		if !g.Ended {
			m.groups = append(m.groups, g)
		}
	}
	if s == nil {
		return
	}
	for line := range bytes.Lines(bytes.Join(b.Events, nil)) {
		s.lines = append(s.lines, bytes.Clone(line))
	}
	if b.Last != 0 {
		s.rec.Head = b.Last
	}
	for _, f := range b.Folds {
		f.Line = bytes.Clone(f.Line)
		s.folds = append(s.folds, f)
	}
	if b.Snapshot != nil {
		s.rec.Snapshot, s.rec.SnapSeq = bytes.Clone(b.Snapshot), b.SnapSeq
	}
	if b.Summary != nil {
		s.rec.Summary = bytes.Clone(b.Summary)
	}
	if b.Live != nil {
		s.rec.Live = *b.Live
	}
	if b.Spec != nil {
		s.rec.Spec = bytes.Clone(b.Spec)
	}
	s.turns = append(s.turns, b.Turns...)
	for _, a := range b.Answers {
		m.answers[a.Key] = a
	}
	for _, d := range b.Decisions {
		s.decisions[d.Request] = bytes.Clone(d.Data)
	}
	for _, blob := range b.Blobs {
		s.blobs[blob.ID] = blob
	}
}

// session returns a session for a read; the caller holds mu. It releases mu during failRead, which
// may block.
func (m *memStore) session(id string) (*memSession, error) {
	if fail := m.failRead; fail != nil {
		m.mu.Unlock()
		err := fail()
		m.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	if s := m.sessions[id]; s != nil {
		return s, nil
	}
	return nil, eventlog.ErrNotFound
}

func (m *memStore) Sessions(context.Context) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, id := range m.order {
			rec := m.sessions[id].rec
			rec.Snapshot = nil
			if !yield(rec, nil) {
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
	_ context.Context,
	id string,
	after, through uint64,
	folded bool,
	max int,
	dst []byte,
) ([]byte, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return dst, after, err
	}
	dst, last := s.read(after, through, folded, max, dst)
	return dst, last, nil
}

func (s *memSession) read(after, through uint64, folded bool, max int, dst []byte) ([]byte, uint64) {
	last, size := after, 0
	for last < min(through, s.rec.Head) {
		line, upto := s.lines[last], last+1
		if f := s.fold(last + 1); folded && f.First == last+1 && f.Last <= through {
			line, upto = f.Line, f.Last
		}
		if size > 0 && size+len(line) > max {
			break
		}
		dst, last, size = append(dst, line...), upto, size+len(line)
	}
	return dst, last
}

func (m *memStore) FoldStart(_ context.Context, id string, seq uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return 0, err
	}
	return s.fold(seq).First, nil
}

// fold returns the fold with an event, or none.
func (s *memSession) fold(seq uint64) eventlog.Fold {
	i := sort.Search(len(s.folds), func(i int) bool { return s.folds[i].Last >= seq })
	if i == len(s.folds) || s.folds[i].First > seq {
		return eventlog.Fold{}
	}
	return s.folds[i]
}

func (m *memStore) Answer(_ context.Context, key string) (eventlog.Answer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.session(""); !errors.Is(err, eventlog.ErrNotFound) {
		return eventlog.Answer{}, err
	}
	if a, ok := m.answers[key]; ok {
		return a, nil
	}
	return eventlog.Answer{}, eventlog.ErrNotFound
}

func (m *memStore) Decision(_ context.Context, id, request string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return nil, err
	}
	if d, ok := s.decisions[request]; ok {
		return bytes.Clone(d), nil
	}
	return nil, eventlog.ErrNotFound
}

func (m *memStore) Turns(_ context.Context, id string, before uint64, limit int) ([]eventlog.TurnRow, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.session(id)
	if err != nil {
		return nil, err
	}
	var list []eventlog.TurnRow
	for _, t := range slices.Backward(s.turns) {
		if (before == 0 || t.First < before) && len(list) < limit {
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
	if b, ok := s.blobs[blob]; ok {
		return b, nil
	}
	return eventlog.Blob{}, eventlog.ErrNotFound
}

func (m *memStore) ProcessGroups(context.Context) ([]agent.ProcessGroup, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.groups), nil
}

func (m *memStore) PruneAnswers(ctx context.Context, before time.Time) error {
	if m.slowPrune {
		<-ctx.Done()
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, a := range m.answers {
		if a.At.Before(before) {
			delete(m.answers, k)
		}
	}
	return nil
}

func (m *memStore) Close() error { return nil }
