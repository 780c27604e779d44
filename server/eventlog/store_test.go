package eventlog

import (
	"context"
	"encoding/json"
	"sort"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
)

func TestMain(m *testing.M) {
	thorough.Checks(40, 100)
	goleak.VerifyTestMain(m)
}

// testingT is the part of testing.TB that tests and properties share.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A memStore is a Store in memory with the lines and folds of one log.
type memStore struct {
	mu    sync.Mutex
	lines [][]byte // by seq-1
	folds []Fold
}

func (m *memStore) add(lines ...[]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, lines...)
}

// addFold adds the fold of the events first to last.
func (m *memStore) addFold(first, last uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size := 0
	for _, line := range m.lines[first-1 : last] {
		size += len(line) / 2
	}
	m.folds = append(m.folds, Fold{First: first, Last: last, Line: lineOf(last, -1, size)})
}

func (m *memStore) Commit(batches []*Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range batches {
		for _, lines := range b.Events {
			for line := range protocol.Lines(lines) {
				m.lines = append(m.lines, append(line[:len(line):len(line)], '\n'))
			}
		}
		m.folds = append(m.folds, b.Folds...)
	}
	return nil
}

func (m *memStore) Read(
	_ context.Context, _ string, after, through uint64, folded bool, most int, dst []byte,
) ([]byte, uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dst, last := m.read(after, through, folded, most, dst)
	return dst, last, nil
}

func (m *memStore) read(after, through uint64, folded bool, most int, dst []byte) ([]byte, uint64) {
	last, size := after, 0
	for last < min(through, uint64(len(m.lines))) {
		line, upto := m.lines[last], last+1
		if f := m.fold(last + 1); folded && f.First == last+1 && f.Last <= through {
			line, upto = f.Line, f.Last
		}
		if size > 0 && size+len(line) > most {
			break
		}
		dst, last, size = append(dst, line...), upto, size+len(line)
	}
	return dst, last
}

func (m *memStore) FoldStart(_ context.Context, _ string, seq uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fold(seq).First, nil
}

// fold returns the fold with an event, or none.
func (m *memStore) fold(seq uint64) Fold {
	i := sort.Search(len(m.folds), func(i int) bool { return m.folds[i].Last >= seq })
	if i == len(m.folds) || m.folds[i].First > seq {
		return Fold{}
	}
	return m.folds[i]
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

// reduce returns the state after events from the first, encoded.
func reduce(t testingT, events []protocol.Event) string {
	t.Helper()
	return string(protocol.MustEncode(stateAfter(t, events)))
}

func stateAfter(t testingT, events []protocol.Event) *protocol.State {
	t.Helper()
	s := &protocol.State{Session: "s"}
	for i := range events {
		if err := s.Apply(&events[i]); err != nil {
			t.Fatalf("apply: %v", err)
		}
	}
	return s
}

// transcript returns the turns of events, encoded.
func transcript(t testingT, events []protocol.Event) string {
	t.Helper()
	var tr protocol.Transcript
	for i := range events {
		if _, err := tr.Apply(&events[i]); err != nil {
			t.Fatalf("transcript: %v", err)
		}
	}
	return string(protocol.MustEncode(&tr))
}
