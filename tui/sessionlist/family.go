package sessionlist

import (
	"cmp"

	"agentctl/protocol"
)

// maxDepth bounds the ancestors of a session that are followed.
const maxDepth = 8

// Family describes a session among its relatives.
type Family struct {
	Children  int  // sessions that its agent created
	Waiting   int  // sessions below it that wait for a decision
	Collapsed bool // the sessions nested below it are hidden

	// Nested is set if the session is listed below the one whose agent created it. That takes a parent
	// that the filter shows, in the order by need one of the same group, unless it is a sub-agent.
	Nested bool
}

// Family returns the relatives of a session.
func (l *List) Family(session string) Family {
	r := l.rows[session]
	f := Family{len(l.children[session]), 0, l.collapsed[session], r != nil && r.anchor != nil}
	for _, below := range l.descendants(session) {
		if below.Status == protocol.Waiting {
			f.Waiting++
		}
	}
	return f
}

// ToggleCollapsed hides the sessions nested below a session, or shows them again.
func (l *List) ToggleCollapsed(session string) {
	if r := l.rows[session]; r != nil && len(l.children[session]) > 0 {
		l.collapsed[session] = !l.collapsed[session]
		l.replace(r, r)
	}
}

// replace removes old and adds updated. One of them may be nil. The places of
// descendants depend on the session: they move with it, or are removed first and added last, which costs
// O(k log n) comparisons for k descendants.
func (l *List) replace(old, updated *row) {
	if old != nil && updated != nil && old != updated && l.keepsFamily(old, updated) {
		l.change(old, updated)
		return
	}
	id := cmp.Or(updated, old).Session
	below := l.descendants(id)
	for _, r := range below {
		l.removeRow(r)
	}
	if old != nil {
		l.removeRow(old)
		l.removeChild(old)
		delete(l.rows, id)
	}
	if updated != nil {
		l.rows[id] = updated
		l.addChild(updated)
		l.addRow(updated)
	} else {
		delete(l.collapsed, id)
	}
	for _, r := range below {
		l.addRow(r)
	}
}

// keepsFamily reports whether no row is nested, listed or counted in another way when a row is updated.
// In a circle of parents, whose anchors have anchors, it reports false.
func (l *List) keepsFamily(old, updated *row) bool {
	return (old.anchor == nil || old.anchor.anchor == nil) && old.Parent == updated.Parent && old.SubAgent == updated.SubAgent &&
		old.ownSection(l.order) == updated.ownSection(l.order) &&
		old.ownGroup() == updated.ownGroup() && old.matches(l.filter) == updated.matches(l.filter)
}

// change gives a row the content of an updated one, and moves it with the rows that are nested below it.
func (l *List) change(r, updated *row) {
	l.removeNeed(r)
	updated.anchor, updated.listed = r.anchor, r.listed
	if r.listed {
		l.values.count(r, l.order, -1)
		l.values.count(updated, l.order, 1)
	}
	first := -1
	if r.listed {
		first = l.shown.index(r)
	}
	if first < 0 {
		*r = *updated
	} else {
		last := first + 1
		for last < l.shown.len() && l.shown.at(last).anchor == r {
			last++
		}
		l.shown.change(first, last, func() { *r = *updated })
	}
	l.addNeed(r)
}

// descendants returns the rows below a session. Parents that form a circle end at the session.
func (l *List) descendants(session string) []*row {
	if len(l.children[session]) == 0 {
		return nil
	}
	var below []*row
	seen := map[string]bool{session: true}
	level := []string{session}
	for len(level) > 0 {
		var next []string
		for _, parent := range level {
			for id := range l.children[parent] {
				if !seen[id] {
					seen[id] = true
					below, next = append(below, l.rows[id]), append(next, id)
				}
			}
		}
		level = next
	}
	return below
}

func (l *List) addChild(r *row) {
	if r.Parent == "" || r.Parent == r.Session {
		return
	}
	if l.children[r.Parent] == nil {
		l.children[r.Parent] = map[string]bool{}
	}
	l.children[r.Parent][r.Session] = true
}

func (l *List) removeChild(r *row) {
	delete(l.children[r.Parent], r.Session)
	if len(l.children[r.Parent]) == 0 {
		delete(l.children, r.Parent)
	}
}

// anchorOf returns the uppermost ancestor below which a row is nested, or nil.
func (l *List) anchorOf(r *row) *row {
	var anchor *row
	child := r
	for range maxDepth {
		parent := l.rows[child.Parent]
		if parent == nil || parent == r || !parent.matches(l.filter) ||
			l.order == ByNeed && !child.SubAgent && l.familyGroup(parent) != child.ownGroup() {
			break
		}
		anchor, child = parent, parent
	}
	return anchor
}

// familyGroup returns the group of a row, which may have no anchor yet.
func (l *List) familyGroup(r *row) Group {
	top := r
	for range maxDepth {
		parent := l.rows[top.Parent]
		if !top.SubAgent || parent == nil || parent == r || !parent.matches(l.filter) {
			break
		}
		top = parent
	}
	detached := *top
	detached.anchor = nil
	return detached.group()
}

// hidden reports whether an ancestor below which a row is nested is collapsed.
func (l *List) hidden(r *row) bool {
	child := r
	for range maxDepth {
		if l.collapsed[child.Parent] {
			return true
		}
		if child = l.rows[child.Parent]; child == nil || child == r.anchor {
			return false
		}
	}
	return false
}

// nested returns a comparison that places nested rows directly below their anchor.
func nested(compare func(a, b *row) int) func(a, b *row) int {
	return func(a, b *row) int {
		x, y := a.key(), b.key()
		switch {
		case x != y:
			return compare(x, y)
		case a == b:
			return 0
		case a == x:
			return -1
		case b == x:
			return 1
		}
		return compare(a, b)
	}
}

// key returns the row that decides on the place of the family.
func (r *row) key() *row {
	if r.anchor != nil {
		return r.anchor
	}
	return r
}
