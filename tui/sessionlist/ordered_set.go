package sessionlist

import "math/rand/v2"

// orderedSet is an ordered set with access by index, implemented as a treap with subtree sizes.
// Methods cost O(log n).
type orderedSet[T any] struct {
	compare func(a, b T) int // must not return 0 for two values of the set
	root    *node[T]
	random  *rand.Rand
}

// node is the root of a subtree. A nil node is an empty subtree.
type node[T any] struct {
	value       T
	priority    uint64 // heap order: at least that of the children
	size        int
	left, right *node[T]
}

// newOrderedSet returns an empty set.
func newOrderedSet[T any](compare func(a, b T) int) *orderedSet[T] {
	return &orderedSet[T]{compare: compare, random: rand.New(rand.NewPCG(1, 2))}
}

// count returns the number of values in the subtree.
func (n *node[T]) count() int {
	if n == nil {
		return 0
	}
	return n.size
}

// updateSize recomputes the size from those of the children, and returns n.
func (n *node[T]) updateSize() *node[T] {
	n.size = n.left.count() + 1 + n.right.count()
	return n
}

// len returns the number of values.
func (t *orderedSet[T]) len() int { return t.root.count() }

// add adds v, which must not be in the set.
func (t *orderedSet[T]) add(v T) {
	before, after := t.split(t.root, v)
	t.root = merge(merge(before, &node[T]{value: v, priority: t.random.Uint64(), size: 1}), after)
}

// remove removes v if it is in the set.
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

// split splits a subtree into the values before v and the rest.
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

// merge joins two subtrees. All values of a must come before those of b.
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

// at returns the value at index i, which must be less than len.
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

// index returns the index of v, or -1.
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
