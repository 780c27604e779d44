package transcript

import "sort"

// AnchorKind is a kind of anchor. The caller defines the kinds; 0 is none.
type AnchorKind uint8

// Anchor is an Item that can be a target of navigation. All items of a list are anchors, or none.
type Anchor interface {
	// Seq returns the item's position in its session. It is constant, and not lower than the seq of
	// the item before.
	Seq() uint64
	// AnchorKind returns the item's kind, or 0. It is fast: NextAnchor asks many items.
	AnchorKind() AnchorKind
}

// NextAnchor returns the nearest anchor of a kind before an item, if by is -1, or after it, if by is 1.
// It costs as much as the items between them.
func (l *List) NextAnchor(kind AnchorKind, from ID, by int) (ID, bool) {
	for id := from + ID(by); id >= l.First() && id <= l.Last(); id += ID(by) {
		if anchor, ok := l.Item(id).(Anchor); ok && anchor.AnchorKind() == kind {
			return id, true
		}
	}
	return 0, false
}

// Find returns the first item with the given seq, in a list of anchors. It costs O(log n).
func (l *List) Find(seq uint64) (ID, bool) {
	id := l.First() + ID(sort.Search(l.Len(), func(i int) bool { return l.seq(l.First()+ID(i)) >= seq }))
	return id, id <= l.Last() && l.seq(id) == seq
}

// seq returns the seq of an item, or 0 if it is no anchor.
func (l *List) seq(id ID) uint64 {
	anchor, ok := l.Item(id).(Anchor)
	if !ok {
		return 0
	}
	return anchor.Seq()
}
