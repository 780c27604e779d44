package sessionlist

import (
	"cmp"
	"maps"
	"slices"

	"agentctl/protocol"
)

// Section is the part of the filtered list that one group takes, or in a sectioned order one project,
// label or server.
type Section struct {
	Name  string // "" in the order by need, and for sessions without a label
	Group Group  // in the order by need
	First int    // index of its first session
	Count int    // at least 1

	SubAgents int // how many of them are sub-agents
}

// Sections returns the sections that have sessions, in order. It returns nil for an order without
// sections.
func (l *List) Sections() []Section {
	var out []Section
	first := 0
	add := func(s Section) {
		if s.First = first; s.Count > 0 {
			out = append(out, s)
		}
		first += s.Count
	}
	switch {
	case l.order == ByNeed:
		for g, n := range l.counts {
			add(Section{Group: Group(g), Count: n, SubAgents: l.subAgents[g]})
		}
	case l.order.Sectioned():
		for _, name := range slices.SortedFunc(maps.Keys(l.sections), compareSections) {
			add(Section{Name: name, Count: l.sections[name].all, SubAgents: l.sections[name].subAgents})
		}
	}
	return out
}

// sectionCount counts the listed sessions of a section.
type sectionCount struct{ all, subAgents int }

// countSection adds n to the counts of the section of a row.
func (l *List) countSection(r *row, n int) {
	if !l.order.Sectioned() {
		return
	}
	name := r.section(l.order)
	c := l.sections[name]
	if c.all += n; r.SubAgent {
		c.subAgents += n
	}
	if l.sections[name] = c; c.all == 0 {
		delete(l.sections, name)
	}
}

// section returns the section of a row. A nested row is in the section of its parent.
func (r *row) section(by Order) string { return r.key().ownSection(by) }

// ownSection returns the section by the session alone.
func (r *row) ownSection(by Order) string {
	switch by {
	case ByProject:
		return cmp.Or(r.Project, r.CWD)
	case ByServer:
		return r.server
	case ByLabel:
		for _, key := range slices.Sorted(maps.Keys(r.Labels)) {
			if key != protocol.LabelArchived && key != protocol.LabelPinned {
				return key + "=" + r.Labels[key]
			}
		}
	}
	return ""
}

// compareSections places the section without a name last.
func compareSections(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// NextOrder returns the order after the current one, without those whose sections would be one.
func (l *List) NextOrder() Order {
	next := l.order.Next()
	for next == ByServer && l.serverOf == nil || next == ByLabel && !l.anyLabel() {
		next = next.Next()
	}
	return next
}

// anyLabel reports whether a session has a label by which it is listed.
func (l *List) anyLabel() bool {
	for _, r := range l.rows {
		if r.ownSection(ByLabel) != "" {
			return true
		}
	}
	return false
}
