package eventlog

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// manyLines returns a store with enough events to make an iterator read it several times.
func manyLines() (store *memStore, events uint64) {
	store = &memStore{}
	for seq := range uint64(3000) {
		store.add(lineOf(seq+1, 0, 300))
	}
	for first := uint64(101); first < 3000; first += 100 {
		store.addFold(first, first+49)
	}
	return store, 3000
}

func TestAnIteratorReturnsEachEventOfItsRangeOnceAndFolded(t *testing.T) {
	store, events := manyLines()
	for _, bounds := range [][2]uint64{{0, events}, {0, events + 10}, {120, 2920}, {7, 8}, {9, 9}, {events, events + 1}} {
		after, through := bounds[0], bounds[1]
		want, _ := store.read(after, through, true, 1<<40, nil)
		var got []byte
		for line, err := range Lines(t.Context(), store, "s", after, through) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, line...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("after %d through %d: %d bytes, want %d", after, through, len(got), len(want))
		}
	}
}

func TestAnIteratorEndsWithTheErrorOfTheStore(t *testing.T) {
	store, events := manyLines()
	last := uint64(0)
	var failed []error
	for e, err := range Events(t.Context(), &damagedStore{store, 2500}, "s", 0, events) {
		if err != nil {
			failed = append(failed, err)
			continue
		}
		last = e.Seq
	}
	var damaged *CorruptError
	if len(failed) != 1 || !errors.As(failed[0], &damaged) || damaged.First != 2500 || last == 0 || last >= 2500 {
		t.Errorf("events through %d, errors %v", last, failed)
	}
}

func TestAnIteratorStopsWhenItsCallerDoes(t *testing.T) {
	store, events := manyLines()
	counted := &countingStore{memStore: store}
	var seqs []string
	for e, err := range Events(t.Context(), counted, "s", 0, events) {
		if err != nil {
			t.Fatal(err)
		}
		if seqs = append(seqs, fmt.Sprint(e.Seq)); len(seqs) == 3 {
			break
		}
	}
	if !slices.Equal(seqs, []string{"1", "2", "3"}) || counted.reads.Load() != 1 {
		t.Errorf("events %q in %d reads", seqs, counted.reads.Load())
	}
}
