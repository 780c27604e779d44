package sessionlist

import "math/rand/v2"

// A tree keeps values in order: a treap that knows how many are on each side. Every method costs the logarithm of their
// number.
type orderedSet[T any] struct {
	compare func(a, b T) int // never 0 for two values that are kept
	root    *node[T]
	random  *rand.Rand
}

type node[T any] struct {
	value       T
	priority    uint64 // not less than those below it
	size        int
	left, right *node[T]
}

func newOrderedSet[T any](compare func(a, b T) int) *orderedSet[T] {
	return &orderedSet[T]{compare: compare, random: rand.New(rand.NewPCG(1, 2))}
}

func (n *node[T]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

func (n *node[T]) updateSize() *node[T] {
	n.size = n.left.count() + 1 + n.right.count()
	return n
}

// len is how many values there are.
func (t *orderedSet[T]) len() int { return t.root.count() }

// add puts a value in its place.
func (t *orderedSet[T]) add(v T) {
	before, after := t.split(t.root, v)
	t.root = merge(merge(before, &node[T]{value: v, priority: t.random.Uint64(), size: 1}), after)
}

// remove takes a value out.
func (t *orderedSet[T]) remove(v T) {
	link := &t.root
	var path []*node[T]
	for *link != nil {
		n := *link
		switch d := t.compare(v, n.value); {
		case d < 0:
			link = &n.left
		case d > 0:
			link = &n.right
		default:
			*link = merge(n.left, n.right)
			for _, above := range path {
				above.size--
			}
			return
		}
		path = append(path, n)
	}
}

// split parts what comes before v from the rest.
func (t *orderedSet[T]) split(n *node[T], v T) (before, rest *node[T]) {
	switch {
	case n == nil:
		return nil, nil
	case t.compare(n.value, v) < 0:
		n.right, rest = t.split(n.right, v)
		return n.updateSize(), rest
	}
	before, n.left = t.split(n.left, v)
	return before, n.updateSize()
}

// merge joins two trees of which all of a come before all of b.
func merge[T any](a, b *node[T]) *node[T] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority >= b.priority:
		a.right = merge(a.right, b)
		return a.updateSize()
	}
	b.left = merge(a, b.left)
	return b.updateSize()
}

// at is the value at a place, which must be there.
func (t *orderedSet[T]) at(i int) T {
	n := t.root
	for {
		switch left := n.left.count(); {
		case i < left:
			n = n.left
		case i == left:
			return n.value
		default:
			i -= left + 1
			n = n.right
		}
	}
}

// index is the place of a value that is kept.
func (t *orderedSet[T]) index(v T) int {
	i := 0
	for n := t.root; n != nil; {
		switch d := t.compare(v, n.value); {
		case d < 0:
			n = n.left
		case d > 0:
			i += n.left.count() + 1
			n = n.right
		default:
			return i + n.left.count()
		}
	}
	return -1
}
