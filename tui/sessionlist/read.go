package sessionlist

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
)

// MaxRead is the maximum number of sessions in a Read.
const MaxRead = 2000

// Read records which turns of which sessions a user has read, and the order that the user chose. A
// session that is seen first is read if it was created before Since, else unread. With the zero Since
// it is read.
type Read struct {
	Since    time.Time       `json:"since"`
	Sessions map[string]Mark `json:"sessions"`
	Order    Order           `json:"order,omitempty"` // "": not chosen here

	changes int   // number of marks made
	newest  int64 // the highest order of a mark, once a mark was made
}

// Mark is the last opening of a session, or its first appearance in the list.
type Mark struct {
	Turns int   `json:"turns"` // number of turns that had ended
	Order int64 `json:"order"` // marks with lower numbers are older
}

// SetRead sets what the user has read, and the order that the user chose earlier. It must be called
// before the first Put. The list owns r.
func (l *List) SetRead(r Read) {
	if r.Order.Valid() && (r.Order != ByServer || l.ServerOf != nil) {
		l.SetOrder(r.Order)
	}
	r.Order = "" // so that a later choice on another screen stays
	l.read = r
}

// ChooseOrder is SetOrder by the user, for later screens too.
func (l *List) ChooseOrder(by Order) {
	l.SetOrder(by)
	l.read.Order = by
	l.read.changes++
}

// Read returns a copy of what the user has read and chosen.
func (l *List) Read() Read {
	return Read{Since: l.read.Since, Sessions: maps.Clone(l.read.Sessions), Order: l.read.Order}
}

// ReadChanges returns how often the user has read something new, or chosen an order. It only grows.
func (l *List) ReadChanges() int { return l.read.changes }

// Merge adds what other records. Of a session that both have, the later turn counts; of the times,
// the earlier one.
func (r *Read) Merge(other Read) {
	if !other.Since.IsZero() && (r.Since.IsZero() || other.Since.Before(r.Since)) {
		r.Since = other.Since
	}
	r.Order = cmp.Or(r.Order, other.Order)
	if r.Sessions == nil {
		r.Sessions = map[string]Mark{}
	}
	for session, m := range other.Sessions {
		if mine, ok := r.Sessions[session]; !ok || mine.Turns < m.Turns {
			r.Sessions[session] = m
		}
	}
	r.trim()
}

// apply returns the number of ended turns of a session and whether one of them is unread. Servers
// without counts of turns show only turns that end while the list is followed.
func (r *Read) apply(old *row, s *protocol.Summary) (turns int, unread bool) {
	if s.Turns == 0 {
		if old == nil {
			return 0, false
		}
		ended := old.Turn != "" && old.Turn != s.Turn
		return old.turns, old.unread || ended
	}
	mark, opened := r.Sessions[s.Session]
	switch {
	case opened:
		return s.Turns, s.Turns > mark.Turns
	case old != nil:
		return s.Turns, old.unread || s.Turns > old.turns
	}
	if !r.Since.IsZero() && s.Created.After(r.Since) {
		return s.Turns, true
	}
	if len(r.Sessions) < MaxRead { // else it would displace a session that was opened
		r.mark(s.Session, s.Turns)
	}
	return s.Turns, false
}

// mark records that a session with so many ended turns was opened.
func (r *Read) mark(session string, turns int) {
	if turns == 0 {
		return
	}
	if m, ok := r.Sessions[session]; ok && m.Turns == turns {
		return
	}
	if r.Sessions == nil {
		r.Sessions = map[string]Mark{}
	}
	if r.newest == 0 {
		for _, m := range r.Sessions {
			r.newest = max(r.newest, m.Order)
		}
	}
	r.newest++
	r.Sessions[session] = Mark{turns, r.newest}
	r.changes++
	r.trim()
}

// trim removes the oldest marks above MaxRead.
func (r *Read) trim() {
	if len(r.Sessions) <= MaxRead {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(r.Sessions), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Sessions[a].Order, r.Sessions[b].Order), cmp.Compare(a, b))
	})
	for _, id := range oldest[:len(oldest)-MaxRead] {
		delete(r.Sessions, id)
	}
}
