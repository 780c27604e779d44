package tui

import "time"

// typedApart is the least time between two keys of a person. A terminal that is
// not asked to report its wheel types arrows in its stead, several at once.
const typedApart = 10 * time.Millisecond

// rolling tells a wheel from the arrow keys.
type rolling struct {
	last  time.Time // an arrow came
	first bool      // it was taken for a key
	moved int       // and did this to the walk through what was written
}

// roll scrolls by an arrow that a wheel typed, and does the same for the first of
// them, taking back what it did; false for a key.
func (m *model) roll(by int) bool {
	now := m.now()
	wheel := now.Sub(m.rolling.last) < typedApart
	if !wheel {
		m.rolling = rolling{last: now, first: true}
		return false
	}
	m.word = ""
	m.fading.anew()
	if m.rolling.moved != 0 {
		m.composer.earlier(-m.rolling.moved, m.link.By)
	}
	if m.rolling.first {
		m.story.list.Scroll(-by)
	}
	m.rolling = rolling{last: now}
	m.story.list.Scroll(-by)
	return true
}
