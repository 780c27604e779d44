package sessionlist

import (
	"cmp"
	"iter"

	"agentctl/protocol"
)

// List holds the sessions of a server: those that match a filter, in an order, and those that need
// the user.
type List struct {
	rows    map[string]*row
	order   Order
	filter  []term
	shown   *orderedSet[*row] // by the current order
	urgent  *orderedSet[*row] // by urgency
	waiting int               // number of sessions in NeedsYou
	read    Read
	values  values // of the sessions in shown

	// ServerOf returns the name of a session's server. It must be set before Put. Nil: the sessions
	// have no server names.
	ServerOf func(session string) string

	children  map[string]map[string]bool // sessions by their parent
	collapsed map[string]bool            // sessions whose nested ones are hidden
}

// row is the latest summary of a session. It must not change while it is in an ordered set.
type row struct {
	protocol.Summary
	lowerName  string
	server     string // name of its server, or ""
	searchText string // lower case; matched by the filter
	turns      int    // number of turns that ended, as far as known
	unseen     bool   // the end of the last turn has not been seen since MarkSeen
	unread     bool   // a turn has ended since the user last opened the session
	anchor     *row   // the row below which it is nested, or nil
	listed     bool   // it is in shown
}

// New returns an empty list, ordered by need.
func New() *List {
	l := &List{
		rows: map[string]*row{}, urgent: newOrderedSet(compareUrgency),
		children: map[string]map[string]bool{}, collapsed: map[string]bool{},
	}
	l.SetOrder(ByNeed)
	return l
}

// Put adds or replaces a session. It removes a session whose summary has Deleted set.
func (l *List) Put(s protocol.Summary) {
	old := l.rows[s.Session]
	if s.Deleted {
		if old != nil {
			l.replace(old, nil)
		}
		return
	}
	updated := &row{Summary: s, lowerName: lowerJoin(cmp.Or(s.Name, s.Title, s.Session)), unseen: true}
	if l.ServerOf != nil {
		updated.server = l.ServerOf(s.Session)
	}
	updated.searchText = lowerJoin(s.Name, s.Title, s.Agent, s.CWD, s.Session, string(s.Status), updated.server)
	for key, value := range s.Labels {
		updated.searchText += " " + lowerJoin(key+"="+value)
	}
	if old != nil && old.Turn == s.Turn && old.Reason == s.Reason && (s.Turns == 0 || s.Turns == old.Turns) {
		updated.unseen = old.unseen
	}
	updated.turns, updated.unread = l.read.apply(old, &s)
	updated.unread = updated.unread && !s.SubAgent
	l.replace(old, updated)
}

// MarkSeen records that the user has seen the end of a session's last turn.
func (l *List) MarkSeen(session string) {
	old := l.rows[session]
	if old == nil {
		return
	}
	l.read.mark(session, old.Turns)
	if !old.unseen && !old.unread {
		return
	}
	updated := *old
	updated.unseen, updated.unread = false, false
	l.replace(old, &updated)
}

// addRow adds a row to the ordered sets.
func (l *List) addRow(r *row) {
	if l.place(r) {
		l.shown.add(r)
	}
	l.addNeed(r)
}

// addNeed adds a row to those that need the user.
func (l *List) addNeed(r *row) {
	if r.need() != 0 {
		l.urgent.add(r)
	}
	if r.waits() {
		l.waiting++
	}
}

// removeRow removes a row from the ordered sets.
func (l *List) removeRow(r *row) {
	if r.listed {
		l.shown.remove(r)
		l.values.count(r, l.order, -1)
	}
	l.removeNeed(r)
}

// removeNeed removes a row from those that need the user.
func (l *List) removeNeed(r *row) {
	if r.need() != 0 {
		l.urgent.remove(r)
	}
	if r.waits() {
		l.waiting--
	}
}

// SetOrder sets the order of the sessions.
func (l *List) SetOrder(by Order) {
	l.order = by
	l.rebuild()
}

// Order returns the order of the sessions.
func (l *List) Order() Order { return l.order }

// SetFilter sets the filter: terms that must all hold, in any case. A word must occur in a
// session's name, title, agent, directory, id, status, labels or server. status:, agent:, dir:,
// label: and server: compare one of them; label: takes KEY or KEY=VALUE.
func (l *List) SetFilter(text string) {
	l.filter = parseFilter(text)
	l.rebuild()
}

// rebuild recomputes shown after a change of order or filter.
func (l *List) rebuild() {
	l.values = newValues()
	listed := make([]*row, 0, len(l.rows))
	for _, r := range l.rows {
		if l.place(r) {
			listed = append(listed, r)
		}
	}
	l.shown = newOrderedSet(nested(l.order.compare()), listed...)
}

// place sets where a row is nested, and whether it is listed: the filter shows it, and no ancestor
// is collapsed. It counts a listed row.
func (l *List) place(r *row) (listed bool) {
	r.anchor = l.anchorOf(r)
	r.listed = r.matches(l.filter) && (r.anchor == nil || !l.hidden(r))
	if r.listed {
		l.values.count(r, l.order, 1)
	}
	return r.listed
}

// waits reports whether the session waits for the user: with a request that is not another
// session's, or with a held queue.
func (r *row) waits() bool { return r.ownGroup() == NeedsYou && !r.SubAgent }

// Total returns the number of sessions.
func (l *List) Total() int { return len(l.rows) }

// Len returns the number of sessions that match the filter.
func (l *List) Len() int { return l.shown.len() }

// At returns the session at index i, which must be less than Len.
func (l *List) At(i int) protocol.Summary { return l.shown.at(i).Summary }

// Index returns the index of a session, or -1 if it is unknown or does not match the filter.
func (l *List) Index(session string) int {
	r := l.rows[session]
	if r == nil || !r.listed {
		return -1
	}
	return l.shown.index(r)
}

// Get returns a session, whether it matches the filter or not.
func (l *List) Get(session string) (s protocol.Summary, ok bool) {
	r := l.rows[session]
	if r == nil {
		return s, false
	}
	return r.Summary, true
}

// CountWaiting returns the number of sessions that wait for the user, whether the filter shows them
// or not, without counting except. Without a filter it is the number of sessions in NeedsYou.
func (l *List) CountWaiting(except string) int {
	if r := l.rows[except]; r != nil && r.waits() {
		return l.waiting - 1
	}
	return l.waiting
}

// Needs yields the sessions that need the user, the most urgent first: pending approvals, then held
// queues, each longest waiting first; then unseen failures, latest first.
func (l *List) Needs() iter.Seq2[string, Need] {
	return func(yield func(string, Need) bool) {
		for _, r := range l.urgent.values {
			if !yield(r.Session, r.need()) {
				return
			}
		}
	}
}
