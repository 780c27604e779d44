package transcript

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// anchorItem is an item with an anchor kind.
type anchorItem struct {
	countingItem
	seq  uint64
	kind AnchorKind
}

func (s *anchorItem) Seq() uint64             { return s.seq }
func (s *anchorItem) AnchorKind() AnchorKind  { return s.kind }
func (s *anchorItem) is(kind AnchorKind) bool { return s.kind == kind }

func TestAnchorsAfterRandomChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		calls, made := 0, 0
		l := NewList(1 << 20)
		l.Resize(40, 10)
		var items []*anchorItem                     // as on the list
		first, last := uint64(1<<32), uint64(1<<32) // seqs of the list
		add := func(front bool) {
			made++
			gap := rapid.Uint64Range(0, 2).Draw(t, "gap") // items may share a seq
			seq := last + gap
			if front {
				seq = first - gap
			}
			first, last = min(first, seq), max(last, seq)
			s := &anchorItem{
				countingItem: countingItem{fmt.Sprint(made), 1, &calls},
				seq:          seq,
				kind:         AnchorKind(rapid.IntRange(0, 3).Draw(t, "kind")),
			}
			if front {
				l.Prepend(s, false)
				items = append([]*anchorItem{s}, items...)
			} else {
				l.Append(s, false)
				items = append(items, s)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"append":  func(*rapid.T) { add(false) },
			"prepend": func(*rapid.T) { add(true) },
			"drop": func(t *rapid.T) {
				if n := rapid.IntRange(0, len(items)).Draw(t, "count"); n < len(items) {
					l.DropBefore(l.First() + ID(n))
					items = items[n:]
				}
			},
			"": func(t *rapid.T) {
				for i, s := range items {
					want := slices.IndexFunc(items, func(o *anchorItem) bool { return o.seq == s.seq })
					if id, ok := l.Find(s.seq); !ok || l.Item(id) != Item(items[want]) {
						t.Fatalf("Find(%d) = %d, %v, want item %d", s.seq, id, ok, want)
					}
					for kind := AnchorKind(1); kind <= 3; kind++ {
						want := slices.IndexFunc(items[i+1:], func(s *anchorItem) bool { return s.is(kind) })
						got, ok := l.NextAnchor(kind, l.First()+ID(i), 1)
						if ok != (want >= 0) || ok && l.Item(got) != Item(items[i+1+want]) {
							t.Fatalf("next anchor of kind %d after item %d: %d, %v", kind, i, got, ok)
						}
						last := -1
						for j := range items[:i] {
							if items[j].is(kind) {
								last = j
							}
						}
						got, ok = l.NextAnchor(kind, l.First()+ID(i), -1)
						if ok != (last >= 0) || ok && l.Item(got) != Item(items[last]) {
							t.Fatalf("next anchor of kind %d before item %d: %d, %v", kind, i, got, ok)
						}
					}
				}
				for seq := first - 1; seq <= last+1; seq++ {
					known := slices.ContainsFunc(items, func(s *anchorItem) bool { return s.seq == seq })
					if id, ok := l.Find(seq); ok != known {
						t.Fatalf("Find(%d) = %d, %v", seq, id, ok)
					}
				}
			},
		})
	})
}

func TestDroppedItemsHaveNoAnchor(t *testing.T) {
	calls := 0
	l := NewList(1 << 20)
	for i := range 5 {
		l.Append(&anchorItem{countingItem{fmt.Sprint(i), 1, &calls}, uint64(i), 1}, false)
	}
	l.DropBefore(3)
	if _, ok := l.Find(2); ok {
		t.Error("Find found a dropped item")
	}
	if id, ok := l.NextAnchor(1, l.First()-1, 1); !ok || id != 0 {
		t.Errorf("first anchor: %d, %v, want 0", id, ok)
	}
	if id, ok := l.Find(3); !ok || id != 0 {
		t.Errorf("first item: %d, %v, want 0", id, ok)
	}
}
