package sqlite_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"agentctl/server/eventlog"
	"agentctl/server/sqlite"
)

// A modelLog is the model of Read: events and folds in slices.
type modelLog struct {
	events [][]byte // events[i] has seq i+1
	folds  []eventlog.Fold
}

func (m *modelLog) read(after, through uint64, folded bool, limit int) ([]byte, uint64) {
	var out []byte
	at := after
	for at < min(through, uint64(len(m.events))) {
		line, last := m.events[at], at+1
		for _, f := range m.folds {
			if folded && f.First == at+1 && f.Last <= through {
				line, last = f.Line, f.Last
			}
		}
		if len(out) > 0 && len(out)+len(line) > limit {
			break
		}
		out = append(out, line...)
		at = last
	}
	return out, at
}

func (m *modelLog) foldStart(seq uint64) uint64 {
	for _, f := range m.folds {
		if f.First <= seq && seq <= f.Last {
			return f.First
		}
	}
	return 0
}

// appendBatch appends a random batch to the model and returns it.
func (m *modelLog) appendBatch(t *rapid.T, id string) *eventlog.Batch {
	b := &eventlog.Batch{Session: id, First: uint64(len(m.events)) + 1}
	for range rapid.IntRange(1, 15).Draw(t, "events") {
		size := rapid.SampledFrom([]int{0, 1, 10, 300, 5_000, 70_000}).Draw(t, "size")
		line := fmt.Appendf(nil, "%d %s\n", len(m.events)+1, bytes.Repeat([]byte{'e'}, size))
		m.events = append(m.events, line)
		if n := len(b.Events); n > 0 && rapid.Bool().Draw(t, "joined") {
			b.Events[n-1] = append(bytes.Clone(b.Events[n-1]), line...)
		} else {
			b.Events = append(b.Events, line)
		}
	}
	b.Last = uint64(len(m.events))
	next := uint64(1)
	if n := len(m.folds); n > 0 {
		next = m.folds[n-1].Last + 1
	}
	for next <= b.Last && rapid.Bool().Draw(t, "fold") {
		first := rapid.Uint64Range(next, b.Last).Draw(t, "first")
		last := rapid.Uint64Range(first, b.Last).Draw(t, "last")
		size := rapid.SampledFrom([]int{0, 100, 3_000}).Draw(t, "fold size")
		f := eventlog.Fold{
			First: first, Last: last,
			Line: fmt.Appendf(nil, "%d-%d %s\n", first, last, bytes.Repeat([]byte{'f'}, size)),
		}
		m.folds = append(m.folds, f)
		b.Folds = append(b.Folds, f)
		next = last + 1
	}
	return b
}

func TestReadGivesWhatTheModelGives(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		// Sessions before and after detect reads across sessions.
		logs := make([]modelLog, 3)
		ids := []string{fmt.Sprint("a", run), fmt.Sprint("b", run), fmt.Sprint("c", run)}
		for _, id := range ids {
			if err := s.Commit([]*eventlog.Batch{create(id)}); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 4).Draw(t, "commits") {
			var batches []*eventlog.Batch
			for i, id := range ids {
				batches = append(batches, logs[i].appendBatch(t, id))
			}
			if err := s.Commit(batches); err != nil {
				t.Fatal(err)
			}
		}
		m, id := &logs[1], ids[1]
		end := uint64(len(m.events))
		if rapid.Bool().Draw(t, "merge") {
			first := rapid.Uint64Range(1, end).Draw(t, "merge from")
			last := rapid.Uint64Range(first, end).Draw(t, "merge to")
			if err := s.Merge(context.Background(), id, first, last); err != nil {
				t.Fatal(err)
			}
		}
		for range 20 {
			after := rapid.Uint64Range(0, end+2).Draw(t, "after")
			through := rapid.OneOf(rapid.Uint64Range(0, end+2), rapid.Just(uint64(math.MaxUint64))).Draw(t, "through")
			folded := rapid.Bool().Draw(t, "folded")
			limit := rapid.SampledFrom([]int{-1, 0, 1, 100, 4_000, 66_000, 1 << 30}).Draw(t, "max")
			want, wantAt := m.read(after, through, folded, limit)
			got, at, err := s.Read(context.Background(), id, after, through, folded, limit, []byte("kept"))
			if err != nil {
				t.Fatal(err)
			}
			if at != wantAt || string(got) != "kept"+string(want) {
				t.Fatalf("read (%d, %d] folded=%t max=%d: at %d with %d bytes, want at %d with %d",
					after, through, folded, limit, at, len(got)-len("kept"), wantAt, len(want))
			}
			start, err := s.FoldStart(context.Background(), id, after)
			if err != nil || start != m.foldStart(after) {
				t.Fatalf("the fold of event %d starts at %d, %v, want %d", after, start, err, m.foldStart(after))
			}
		}
	})
}

func TestReadsOfAnySizeAddUpToTheWholeLog(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"), events("a", 1, 600), events("a", 601, 1_000))
	want := lines(1, 1_000)
	for _, limit := range []int{1, 1024, 64 << 10} {
		var got []byte
		for at := uint64(0); at < 1_000; {
			before := at
			var err error
			if got, at, err = s.Read(context.Background(), "a", at, 1_000, false, limit, got); err != nil {
				t.Fatal(err)
			}
			if at == before {
				t.Fatalf("max %d: no progress after %d", limit, at)
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("max %d: other bytes", limit)
		}
	}
}

func TestAPositionPastEverythingReadsNothing(t *testing.T) {
	s := open(t, t.TempDir(), sqlite.Options{})
	commit(t, s, create("a"), events("a", 1, 3), create("b"), events("b", 1, 3))
	for _, after := range []uint64{3, 4, 1<<40 - 2, 1<<40 - 1, 1 << 40, math.MaxUint64 - 1, math.MaxUint64} {
		for _, folded := range []bool{false, true} {
			got, at, err := s.Read(context.Background(), "a", after, math.MaxUint64, folded, 1<<20, nil)
			if len(got) != 0 || at != after || err != nil {
				t.Errorf("after %d: %q at %d, %v", after, got, at, err)
			}
		}
	}
}
