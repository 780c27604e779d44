package transcript

import (
	"slices"
	"sort"
)

// AnchorKind sorts the items that one can go to; 0 is none.
type AnchorKind uint8

// MaxAnchorKinds bounds a Kind.
const MaxAnchorKinds = 8

// Anchor is a source that one can go to.
type Anchor interface {
	// Anchor is the item's kind, or 0, and its name, or "". They do not change:
	// the list asks when it gets the item.
	Anchor() (AnchorKind, string)
}

// AltAnchor is a landmark that may be of another kind as well, later on: see
// List.Became.
type AltAnchor interface {
	// AltAnchor is that kind, or 0.
	AltAnchor() AnchorKind
}

// landmarks are the items that one can go to, in order, by kind and by name.
type landmarks struct {
	back, front [MaxAnchorKinds][]ID // front from the end on, as in the list
	names       map[string]ID
}

func (m *landmarks) note(id ID, s Item) {
	mark, ok := s.(Anchor)
	if !ok {
		return
	}
	kind, name := mark.Anchor()
	if name != "" {
		if m.names == nil {
			m.names = map[string]ID{}
		}
		if _, taken := m.names[name]; !taken { // by the end of what is paged in piece by piece
			m.names[name] = id
		}
	}
	m.put(kind, id)
	m.became(id, s)
}

// became notes the other kind of an item that has one by now.
func (m *landmarks) became(id ID, s Item) {
	if two, ok := s.(AltAnchor); ok {
		m.put(two.AltAnchor(), id)
	}
}

// put notes an item, which is mostly the outermost of its kind, once.
func (m *landmarks) put(kind AnchorKind, id ID) {
	if kind == 0 || kind >= MaxAnchorKinds {
		return
	}
	all, outer := &m.back[kind], func(a ID) bool { return a >= id }
	if id < 0 {
		all, outer = &m.front[kind], func(a ID) bool { return a <= id }
	}
	i := sort.Search(len(*all), func(i int) bool { return outer((*all)[i]) })
	if i == len(*all) || (*all)[i] != id {
		*all = slices.Insert(*all, i, id)
	}
}

// next is the nearest item of a kind before an item (by < 0) or after it.
func (m *landmarks) next(kind AnchorKind, from ID, by int) (ID, bool) {
	front, back := m.front[kind], m.back[kind]
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

// NextAnchor is the nearest item of a kind before an item (by < 0) or after it. It
// costs O(log n).
func (l *List) NextAnchor(kind AnchorKind, from ID, by int) (ID, bool) {
	return l.landmarks.next(kind, from, by)
}

// UpdateAnchor says that an item may be Twofold by now. It costs O(log n) near the ends
// of the list.
func (l *List) UpdateAnchor(id ID) { l.landmarks.became(id, l.item(id).source) }

// FindAnchor is the item that has the name.
func (l *List) FindAnchor(name string) (ID, bool) {
	id, ok := l.landmarks.names[name]
	return id, ok
}

// TopItem is the item that the first line of the window belongs to.
func (l *List) TopItem() ID {
	l.settle()
	return l.top
}

// ScrollToItem puts an item's first line at the top of the window, or as near as the
// end allows.
func (l *List) ScrollToItem(id ID) {
	if l.Len() == 0 {
		return
	}
	l.follow = false
	l.top, l.topLine = min(max(id, l.First()), l.Last()), 0
}
