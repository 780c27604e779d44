package sessionlist

import (
	"cmp"
	"strings"

	"agentctl/protocol"
)

// A Roster is the sessions of a server: those that the filter lets through in an order, and those that need a person.
type List struct {
	rows    map[string]*row
	order   Order
	filter  []string
	shown   *tree[*row] // by order
	needy   *tree[*row] // by urgency
	waiting int         // with an approval pending
}

// A row is a session as it was told last. It does not change while it is in a tree.
type row struct {
	protocol.Summary
	sortName string
	words    string // what the filter looks at
	unseen   bool   // a turn ended since somebody looked
}

// New makes a roster without sessions, by need.
func New() *List {
	r := &List{rows: map[string]*row{}, needy: newTree(byUrgency)}
	r.SetOrder(ByNeed)
	return r
}

// Put keeps what a session is now; one that is Deleted is forgotten.
func (r *List) Put(s protocol.Summary) {
	old := r.rows[s.Session]
	if old != nil {
		r.drop(old)
	}
	if s.Deleted {
		delete(r.rows, s.Session)
		return
	}
	now := &row{Summary: s, sortName: lower(cmp.Or(s.Name, s.Title, s.Session)), unseen: true}
	now.words = lower(s.Name, s.Title, s.Agent, s.CWD, s.Session, string(s.Status))
	if old != nil && old.Turn == s.Turn && old.Reason == s.Reason {
		now.unseen = old.unseen
	}
	r.put(now)
}

// MarkSeen takes note that somebody looks at a session: how its last turn ended is known.
func (r *List) MarkSeen(session string) {
	old := r.rows[session]
	if old == nil || !old.unseen {
		return
	}
	r.drop(old)
	now := *old
	now.unseen = false
	r.put(&now)
}

func (r *List) put(w *row) {
	r.rows[w.Session] = w
	if w.passes(r.filter) {
		r.shown.add(w)
	}
	if w.need() != 0 {
		r.needy.add(w)
	}
	if w.Status == protocol.Waiting {
		r.waiting++
	}
}

func (r *List) drop(w *row) {
	if w.passes(r.filter) {
		r.shown.remove(w)
	}
	if w.need() != 0 {
		r.needy.remove(w)
	}
	if w.Status == protocol.Waiting {
		r.waiting--
	}
}

func (w *row) passes(filter []string) bool {
	for _, f := range filter {
		if !strings.Contains(w.words, f) {
			return false
		}
	}
	return true
}

// SetOrder puts all sessions in another order.
func (r *List) SetOrder(by Order) {
	r.order = by
	r.arrange()
}

// Order is how they are sorted.
func (r *List) Order() Order { return r.order }

// SetFilter lets only those through that have each of the words in their name, title, agent, directory, id or status, whatever
// their case.
func (r *List) SetFilter(words string) {
	r.filter = strings.Fields(strings.ToLower(words))
	r.arrange()
}

func (r *List) arrange() {
	r.shown = newTree(r.order.compare())
	for _, w := range r.rows {
		if w.passes(r.filter) {
			r.shown.add(w)
		}
	}
}

// Total is how many sessions there are.
func (r *List) Total() int { return len(r.rows) }

// Len is how many of them the filter lets through.
func (r *List) Len() int { return r.shown.len() }

// At is the session at a place from 0 to Len.
func (r *List) At(i int) protocol.Summary { return r.shown.at(i).Summary }

// Index is the place of a session, or -1 when it is not there or the filter keeps it back.
func (r *List) Index(session string) int {
	w := r.rows[session]
	if w == nil || !w.passes(r.filter) {
		return -1
	}
	return r.shown.index(w)
}

// Get is a session, whatever the filter.
func (r *List) Get(session string) (s protocol.Summary, ok bool) {
	w := r.rows[session]
	if w == nil {
		return s, false
	}
	return w.Summary, true
}

// CountWaiting counts the sessions with an approval pending, but for one.
func (r *List) CountWaiting(but string) int {
	if w := r.rows[but]; w != nil && w.Status == protocol.Waiting {
		return r.waiting - 1
	}
	return r.waiting
}

// Need is why a session wants somebody; 0 when it does not.
func (r *List) Need(session string) Need {
	if w := r.rows[session]; w != nil {
		return w.need()
	}
	return 0
}

// NextNeed is the session that needs a person most, but for those passed over: who asks and then held queues, the longest
// waiting first, then failures that nobody saw, the latest first. It costs as much as is passed over.
func (r *List) NextNeed(pass func(session string) bool) (session string, ok bool) {
	for i := range r.needy.len() {
		if w := r.needy.at(i); !pass(w.Session) {
			return w.Session, true
		}
	}
	return "", false
}
