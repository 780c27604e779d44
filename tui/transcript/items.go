package transcript

// Item is one entry of a List. The list calls its methods only for items in the window, or passed
// while scrolling.
type Item interface {
	// Block renders the item for a width of at least one cell.
	Block(width int, collapsed bool) Block
	// Estimate returns the approximate number of lines of Block. It costs O(1).
	Estimate(width int, collapsed bool) int
}

// ID identifies an item of one list. It stays valid when items are added, until DropBefore.
type ID int

type entry struct {
	item      Item
	version   uint64 // incremented by Invalidate
	collapsed bool
}

// items is an ordered sequence of items and their heights. It grows at both ends, so that older
// items can be paged in: back holds IDs 0, 1, 2 …, front holds -1, -2 ….
type items struct {
	back, front               []entry
	backHeights, frontHeights heights
}

// Len returns the number of items.
func (s *items) Len() int { return len(s.back) + len(s.front) }

// First returns the ID of the oldest item. In an empty list, First is greater than Last.
func (s *items) First() ID { return ID(-len(s.front)) }

// Last returns the ID of the newest item.
func (s *items) Last() ID { return ID(len(s.back) - 1) }

// Item returns the item with the given ID.
func (s *items) Item(id ID) Item { return s.entry(id).item }

// Collapsed reports whether the item is collapsed.
func (s *items) Collapsed(id ID) bool { return s.entry(id).collapsed }

func (s *items) entry(id ID) *entry {
	if id < 0 {
		return &s.front[-1-id]
	}
	return &s.back[id]
}

func (s *items) append(e entry, height int) ID {
	s.back = append(s.back, e)
	s.backHeights.push(height)
	return s.Last()
}

func (s *items) prepend(e entry, height int) ID {
	s.front = append(s.front, e)
	s.frontHeights.push(height)
	return s.First()
}

func (s *items) itemHeight(id ID) int {
	if id < 0 {
		return s.frontHeights.at(int(-1 - id))
	}
	return s.backHeights.at(int(id))
}

func (s *items) setItemHeight(id ID, h int) {
	if id < 0 {
		s.frontHeights.set(int(-1-id), h)
	} else {
		s.backHeights.set(int(id), h)
	}
}

// linesBefore returns the sum of the heights before an item.
func (s *items) linesBefore(id ID) int {
	if id < 0 {
		return s.frontHeights.total() - s.frontHeights.before(int(-id))
	}
	return s.frontHeights.total() + s.backHeights.before(int(id))
}
