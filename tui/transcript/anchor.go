package transcript

import (
	"maps"
	"slices"
	"sort"
)

// AnchorKind is a kind of anchor, less than MaxAnchorKinds. The caller defines the kinds; 0 is
// none.
type AnchorKind uint8

// MaxAnchorKinds is the number of anchor kinds, 0 included.
const MaxAnchorKinds = 8

// Anchor is an Item that can be a target of navigation.
type Anchor interface {
	// Anchor returns the item's kind, or 0, and its name, or "". Both are constant: the list calls
	// Anchor once, when the item is added.
	Anchor() (AnchorKind, string)
}

// anchorName returns the name of an item, or "".
func anchorName(item Item) string {
	anchor, ok := item.(Anchor)
	if !ok {
		return ""
	}
	_, name := anchor.Anchor()
	return name
}

// AltAnchor is an Anchor that can get a second kind later. See List.UpdateAnchor.
type AltAnchor interface {
	// AltAnchor returns the second kind, or 0.
	AltAnchor() AnchorKind
}

// anchorIndex holds the anchors of a list in order, by kind and by name.
type anchorIndex struct {
	// IDs of back are not negative and ascend, IDs of front are negative and descend.
	back, front [MaxAnchorKinds][]ID
	byName      map[string]ID
}

func (x *anchorIndex) add(id ID, item Item) {
	anchor, ok := item.(Anchor)
	if !ok {
		return
	}
	kind, name := anchor.Anchor()
	if name != "" {
		if x.byName == nil {
			x.byName = map[string]ID{}
		}
		if _, taken := x.byName[name]; !taken { // an item paged in in parts keeps its newest part
			x.byName[name] = id
		}
	}
	x.insert(kind, id)
	x.addAlt(id, item)
}

// addAlt adds an item under its second kind, if it has one.
func (x *anchorIndex) addAlt(id ID, item Item) {
	if alt, ok := item.(AltAnchor); ok {
		x.insert(alt.AltAnchor(), id)
	}
}

// insert adds an item to a kind, unless it is there. It is fast for IDs near the ends of the list.
func (x *anchorIndex) insert(kind AnchorKind, id ID) {
	if kind == 0 || kind >= MaxAnchorKinds {
		return
	}
	ids, atOrPast := &x.back[kind], func(a ID) bool { return a >= id }
	if id < 0 {
		ids, atOrPast = &x.front[kind], func(a ID) bool { return a <= id }
	}
	i := sort.Search(len(*ids), func(i int) bool { return atOrPast((*ids)[i]) })
	if i == len(*ids) || (*ids)[i] != id {
		*ids = slices.Insert(*ids, i, id)
	}
}

// remove removes the items from first up to end, exclusive. It costs O(n) of all anchors.
func (x *anchorIndex) remove(first, end ID) {
	within := func(id ID) bool { return first <= id && id < end }
	for kind := range x.back {
		x.back[kind] = slices.DeleteFunc(x.back[kind], within)
		x.front[kind] = slices.DeleteFunc(x.front[kind], within)
	}
	maps.DeleteFunc(x.byName, func(_ string, id ID) bool { return within(id) })
}

// next returns the nearest anchor of a kind before an item, if by is negative, or after it.
func (x *anchorIndex) next(kind AnchorKind, from ID, by int) (ID, bool) {
	front, back := x.front[kind], x.back[kind]
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

// NextAnchor returns the nearest anchor of a kind before an item, if by is negative, or after it.
// It costs O(log n).
func (l *List) NextAnchor(kind AnchorKind, from ID, by int) (ID, bool) {
	return l.anchors.next(kind, from, by)
}

// FindAnchor returns the anchor with the given name.
func (l *List) FindAnchor(name string) (ID, bool) {
	id, ok := l.anchors.byName[name]
	return id, ok
}

// UpdateAnchor indexes an AltAnchor under its second kind, once it has one. It costs O(log n) near
// the ends of the list.
func (l *List) UpdateAnchor(id ID) { l.anchors.addAlt(id, l.Item(id)) }
