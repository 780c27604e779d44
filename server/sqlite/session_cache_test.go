package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	sqlite3 "modernc.org/sqlite/lib"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// A storeModel has the event lines of the sessions of a store by id. The lines of the last deleted
// session of an id have the key deleted+id.
type storeModel map[string][]byte

const deleted = "deleted "

func (m storeModel) last(id string) uint64 { return uint64(bytes.Count(m[id], []byte{'\n'})) }

// randomBatch returns a batch and whether the store must accept it after the batches in the model.
// It applies an accepted batch to the model.
func (m storeModel) randomBatch(random *rand.Rand) (b *eventlog.Batch, ok bool) {
	id := string(rune('a' + random.IntN(5)))
	_, exists := m[id]
	b = &eventlog.Batch{Session: id}
	first, ok := m.last(id)+1, exists
	if !exists {
		first = m.last(deleted+id) + 1 // as if it was not deleted
	}
	switch kind := random.IntN(20); {
	case kind < 2:
		b.Delete = true
		if exists {
			m[deleted+id] = m[id]
			delete(m, id)
		}
		return b, true
	case kind < 5 && (!exists || random.IntN(10) == 0):
		b.Create, ok = create(id).Create, !exists
		first = 1
	case kind == 5 && random.IntN(3) == 0: // a repeat or a gap
		first, ok = first+1, false
		if first > 2 && random.IntN(2) == 0 {
			first -= 2
		}
	case kind == 6 && random.IntN(3) == 0:
		b.Folds, ok = []eventlog.Fold{{First: 1, Last: 1 << 30, Line: []byte("f\n")}}, false
	case kind < 9:
		b.Summary = []byte("summary")
	case kind < 11 && exists && first > 1:
		b.Snapshot, b.SnapSeq = []byte("state"), first-1
	case !exists && random.IntN(4) > 0:
		return m.randomBatch(random)
	}
	var lines []byte
	count := 1 + random.IntN(3)
	for range count {
		lines = fmt.Appendf(lines, "%s %x\n", id, random.Uint64())
	}
	b.Events, b.First, b.Last = [][]byte{lines}, first, first+uint64(count)-1
	if ok {
		m[id] = append(bytes.Clone(m[id]), lines...)
	}
	return b, ok
}

// compare reports whether the store has the sessions of the model.
func (m storeModel) compare(s *sqlite.Store) error {
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		want, exists := m[id]
		r, err := s.Session(context.Background(), id)
		switch {
		case !exists && !errors.Is(err, eventlog.ErrNotFound):
			return fmt.Errorf("session %s, which does not exist: %w", id, err)
		case !exists:
			continue
		case err != nil:
			return err
		case r.Head != m.last(id):
			return fmt.Errorf("head of %s is %d, want %d", id, r.Head, m.last(id))
		}
		got, _, err := s.Read(context.Background(), id, 0, 1<<30, false, 1<<30, nil)
		if err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("events of %s: %d bytes, want %d: %w", id, len(got), len(want), err)
		}
	}
	return nil
}

// TestAWriterAcceptsWhatFollowsTheStoredEventsAlone commits random batches. Some do not follow the
// stored events; writes and syncs fail, the store is opened again, and the database is repaired.
func TestAWriterAcceptsWhatFollowsTheStoredEventsAlone(t *testing.T) {
	for _, cached := range []int{1, 3, 100} {
		t.Run(fmt.Sprintf("cached=%d", cached), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(cached), 1))
			dir, model := t.TempDir(), storeModel{}
			opts := sqlite.Options{Sync: sqlite.Full}.WithCachedSessions(cached)
			s, err := sqlite.Open(dir, opts)
			if err != nil {
				t.Fatal(err)
			}
			reopen := func(before func()) {
				_ = s.Close() // fails after a failed sync
				before()
				if s, err = sqlite.Open(dir, opts); err != nil {
					t.Fatal(err)
				}
			}
			accepted := 0
			for step := range 500 {
				next, valid := maps.Clone(model), true
				var batches []*eventlog.Batch
				for range 1 + random.IntN(4) {
					b, ok := next.randomBatch(random)
					batches, valid = append(batches, b), valid && ok
				}
				failed, stop := injectRandomFault(t, random)
				err := s.Commit(batches)
				stop()
				switch {
				case err == nil && !valid:
					t.Fatalf("step %d: a commit that does not follow is accepted", step)
				case err == nil:
					model = next
					accepted++
				case errors.Is(err, eventlog.ErrStoreFailed):
					reopen(func() {})
					if next.compare(s) == nil { // its outcome was unknown
						model = next
					}
				case valid && !failed():
					t.Fatalf("step %d: %v", step, err)
				case random.IntN(20) == 0:
					reopen(func() {
						_, _, err := sqlite.Repair(t.Context(), dir, sqlite.RepairOptions{
							Lost:   placeholders,
							Damage: func(d sqlite.Damage) error { return fmt.Errorf("damaged: %s", d) },
						})
						if err != nil {
							t.Fatal(err)
						}
					})
				}
				if err := model.compare(s); err != nil {
					t.Fatalf("step %d: %v", step, err)
				}
			}
			if accepted < 100 {
				t.Errorf("%d commits are accepted, want 100 at least", accepted)
			}
			reopen(func() {})
			if err := errors.Join(model.compare(s), s.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// injectRandomFault fails one of the next writes or syncs, for one call in five. failed reports
// whether it did.
func injectRandomFault(t *testing.T, random *rand.Rand) (failed func() bool, stop func()) {
	operation, code, left := "", int32(sqlite3.SQLITE_FULL), random.IntN(12)
	switch random.IntN(20) {
	case 0, 1, 2:
		operation = "write"
	case 3:
		operation, code, left = "sync", sqlite3.SQLITE_IOERR_FSYNC, 0
	}
	done := false
	return func() bool { return done }, injectFault(t, func(o, file string) int32 {
		if o != operation || file != walFile || done {
			return sqlite3.SQLITE_OK
		}
		if left--; left >= 0 {
			return sqlite3.SQLITE_OK
		}
		done = true
		return code
	})
}
