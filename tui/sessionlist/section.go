package sessionlist

import (
	"cmp"
	"maps"
	"slices"

	"agentctl/protocol"
)

// Section is the part of the filtered list that one group takes, or in another order one project, label
// or server.
type Section struct {
	Name  string // "" in the order by need, and for sessions without a label
	Group Group  // in the order by need
	First int    // index of its first session
	Count int    // at least 1

	SubAgents int // how many of them are sub-agents
}

// Sections returns the sections that have sessions, in order.
func (l *List) Sections() []Section {
	counts := map[sectionKey]Section{}
	for key, n := range l.values[bySection] {
		k := key.(sectionKey)
		all := sectionKey{k.name, k.group, false}
		s := counts[all]
		if s.Count += n; k.subAgent {
			s.SubAgents += n
		}
		s.Name, s.Group = k.name, k.group
		counts[all] = s
	}
	out := slices.SortedFunc(maps.Values(counts), func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), compareSections(a.Name, b.Name))
	})
	first := 0
	for i := range out {
		out[i].First = first
		first += out[i].Count
	}
	return out
}

// sectionKey identifies the section of a row, and separates the sub-agents in it.
type sectionKey struct {
	name     string // in another order
	group    Group  // in the order by need
	subAgent bool
}

// sectionKey returns the key of the section of a row in an order.
func (r *row) sectionKey(by Order) sectionKey {
	k := sectionKey{name: r.section(by), subAgent: r.SubAgent}
	if by == ByNeed {
		k.group = r.group()
	}
	return k
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
	next := l.order
	for {
		next = orders[(slices.Index(orders, next)+1)%len(orders)]
		if (next != ByServer || l.ServerOf != nil) && (next != ByLabel || l.anyLabel()) {
			return next
		}
	}
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
