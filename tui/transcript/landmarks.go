package transcript

import "sort"

// Kind sorts the items that one can go to; 0 is none.
type Kind uint8

// Kinds bounds a Kind.
const Kinds = 8

// Landmark is a source that one can go to.
type Landmark interface {
	// Landmark is the item's kind, or 0, and its name, or "". They do not change:
	// the list asks when it gets the item.
	Landmark() (Kind, string)
}

// landmarks are the items that one can go to, in order, by kind and by name.
type landmarks struct {
	back, front [Kinds][]ID // front from the end on, as in the list
	names       map[string]ID
}

func (m *landmarks) note(id ID, s Source) {
	mark, ok := s.(Landmark)
	if !ok {
		return
	}
	kind, name := mark.Landmark()
	if name != "" {
		if m.names == nil {
			m.names = map[string]ID{}
		}
		if _, taken := m.names[name]; !taken { // by the end of what is paged in piece by piece
			m.names[name] = id
		}
	}
	switch {
	case kind == 0 || kind >= Kinds:
	case id < 0:
		m.front[kind] = append(m.front[kind], id)
	default:
		m.back[kind] = append(m.back[kind], id)
	}
}

// next is the nearest item of a kind before an item (by < 0) or after it.
func (m *landmarks) next(kind Kind, from ID, by int) (ID, bool) {
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

// Next is the nearest item of a kind before an item (by < 0) or after it. It
// costs O(log n).
func (l *List) Next(kind Kind, from ID, by int) (ID, bool) {
	return l.landmarks.next(kind, from, by)
}

// Named is the item that has the name.
func (l *List) Named(name string) (ID, bool) {
	id, ok := l.landmarks.names[name]
	return id, ok
}

// TopItem is the item that the first line of the window belongs to.
func (l *List) TopItem() ID {
	l.settle()
	return l.top
}

// TopAt puts an item's first line at the top of the window, or as near as the
// end allows.
func (l *List) TopAt(id ID) {
	if l.Len() == 0 {
		return
	}
	l.follow = false
	l.top, l.topLine = min(max(id, l.First()), l.Last()), 0
}
