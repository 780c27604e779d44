package transcript

import (
	"slices"
	"sort"
)

// AnchorKind is a kind of anchor, less than MaxAnchorKinds. The caller defines the kinds; 0 is
// none.
type AnchorKind uint8

// MaxAnchorKinds is the number of anchor kinds, 0 included.
const MaxAnchorKinds = 8

// Anchor is an Item that can be a target of navigation. All items of a list are anchors, or none.
type Anchor interface {
	// Seq returns the item's position in its session. It is constant, and not lower than the seq of
	// the item before.
	Seq() uint64
	// AnchorKind returns the item's kind, or 0. It is constant: the list calls AnchorKind once, when
	// the item is added.
	AnchorKind() AnchorKind
}

// anchorIndex holds the anchors of a list in order, by kind.
type anchorIndex struct {
	// IDs of back are not negative and ascend, IDs of front are negative and descend.
	back, front [MaxAnchorKinds][]ID
}

// add adds an item, if it is an anchor of a kind. It is fast for IDs near the ends of the list.
func (x *anchorIndex) add(id ID, item Item) {
	anchor, ok := item.(Anchor)
	if !ok {
		return
	}
	kind := anchor.AnchorKind()
	if kind == 0 || kind >= MaxAnchorKinds {
		return
	}
	ids, atOrPast := &x.back[kind], func(a ID) bool { return a >= id }
	if id < 0 {
		ids, atOrPast = &x.front[kind], func(a ID) bool { return a <= id }
	}
	i := sort.Search(len(*ids), func(i int) bool { return atOrPast((*ids)[i]) })
	*ids = slices.Insert(*ids, i, id)
}

// remove removes the items from first up to end, exclusive. It costs O(n) of all anchors.
func (x *anchorIndex) remove(first, end ID) {
	within := func(id ID) bool { return first <= id && id < end }
	for kind := range x.back {
		x.back[kind] = slices.DeleteFunc(x.back[kind], within)
		x.front[kind] = slices.DeleteFunc(x.front[kind], within)
	}
}

// NextAnchor returns the nearest anchor of a kind before an item, if by is negative, or after it.
// It costs O(log n).
func (l *List) NextAnchor(kind AnchorKind, from ID, by int) (ID, bool) {
	front, back := l.anchors.front[kind], l.anchors.back[kind]
	n := len(front) + len(back)
	at := func(i int) ID {
		if i < len(front) {
			return front[len(front)-1-i]
		}
		return back[i-len(front)]
	}
	i := sort.Search(n, func(i int) bool { return at(i) >= from })
	if by < 0 {
		i--
	} else if i < n && at(i) == from {
		i++
	}
	if i < 0 || i >= n {
		return 0, false
	}
	return at(i), true
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
