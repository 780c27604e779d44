package sessionlist

import "slices"

// orderedSet is a sorted slice without equal values. A search takes O(log n) comparisons; a change
// also moves the values behind its place.
type orderedSet[T any] struct {
	compare func(a, b T) int // must not return 0 for two values of the set
	values  []T
}

// newOrderedSet returns a set of the values, which it owns and sorts.
func newOrderedSet[T any](compare func(a, b T) int, values ...T) *orderedSet[T] {
	slices.SortFunc(values, compare)
	return &orderedSet[T]{compare, values}
}

// len returns the number of values.
func (s *orderedSet[T]) len() int { return len(s.values) }

// at returns the value at index i, which must be less than len.
func (s *orderedSet[T]) at(i int) T { return s.values[i] }

// index returns the index of v, or -1.
func (s *orderedSet[T]) index(v T) int {
	if i, ok := s.search(v); ok {
		return i
	}
	return -1
}

// add adds v, which must not be in the set.
func (s *orderedSet[T]) add(v T) {
	i, _ := s.search(v)
	s.values = slices.Insert(s.values, i, v)
}

// remove removes v if it is in the set.
func (s *orderedSet[T]) remove(v T) {
	if i, ok := s.search(v); ok {
		s.values = slices.Delete(s.values, i, i+1)
	}
}

// change calls f, which may change the values from index first to before last, and moves them to the
// place of the first. Their order among each other must stay.
func (s *orderedSet[T]) change(first, last int, f func()) {
	block := slices.Clone(s.values[first:last])
	s.values = slices.Delete(s.values, first, last)
	f()
	i, _ := s.search(block[0])
	s.values = slices.Insert(s.values, i, block...)
}

// search returns the place of v, and whether v is there.
func (s *orderedSet[T]) search(v T) (int, bool) {
	return slices.BinarySearchFunc(s.values, v, s.compare)
}
