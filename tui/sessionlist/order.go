package sessionlist

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/protocol"
)

// Order is an order of sessions. Its value is shown on the screen.
type Order string

// The orders. All but ByNeed have sections, each by need.
const (
	ByNeed    Order = "need"    // by group; requests longest waiting first, others latest first
	ByProject Order = "project" // repositories, else directories
	ByLabel   Order = "label"   // the first label by its key
	ByServer  Order = "server"
)

var orders = []Order{ByNeed, ByProject, ByLabel, ByServer}

// Valid reports whether there is such an order.
func (o Order) Valid() bool { return slices.Contains(orders, o) }

// compare returns the comparison function of the order. It returns 0 only for the same session. Pinned
// sessions come first in their group.
func (o Order) compare() func(a, b *row) int {
	if o == ByNeed {
		return compareNeed
	}
	return func(a, b *row) int {
		return cmp.Or(compareSections(a.ownSection(o), b.ownSection(o)), compareNeed(a, b))
	}
}

// comparePins places pinned sessions before others.
func comparePins(a, b *row) int {
	switch {
	case a.Pinned() == b.Pinned():
		return 0
	case a.Pinned():
		return -1
	}
	return 1
}

func compareID(a, b *row) int { return cmp.Compare(a.Session, b.Session) }

// compareNeed compares by group, then by urgency in the group that needs the user, and by latest
// activity in the others.
func compareNeed(a, b *row) int {
	if d := cmp.Or(cmp.Compare(a.group(), b.group()), comparePins(a, b)); d != 0 {
		return d
	}
	if a.group() == NeedsYou {
		return compareUrgency(a, b)
	}
	return cmp.Or(b.Updated.Compare(a.Updated), compareID(a, b))
}

// Need is the reason why a session needs the user. The zero value means no need.
type Need uint8

// The needs, most urgent first.
const (
	ApprovalPending Need = iota + 1
	QueueHeld            // queued messages wait behind a hold
	TurnFailed           // the last turn failed and is unseen
)

// need returns the need of the session, or 0.
func (r *row) need() Need {
	switch {
	case r.Status == protocol.Closed, r.SubAgent: // its requests are its parent's
		return 0
	case r.Status == protocol.Waiting:
		return ApprovalPending
	case r.Held && r.Queue > 0:
		return QueueHeld
	case r.unseen && r.failed():
		return TurnFailed
	}
	return 0
}

// failed reports whether no turn is running and the last one failed.
func (r *row) failed() bool {
	end := protocol.TurnEndedData{Reason: r.Reason}
	return r.Turn == "" && r.Reason != "" && end.Failed()
}

// compareUrgency orders sessions by urgency: by need, then pending approvals and held queues
// longest waiting first, failures latest first.
func compareUrgency(a, b *row) int {
	if d := cmp.Compare(a.need(), b.need()); d != 0 {
		return d
	}
	if a.need() == TurnFailed {
		return cmp.Or(b.Updated.Compare(a.Updated), compareID(a, b))
	}
	since := func(r *row) int64 {
		if r.Asked != nil {
			return r.Asked.UnixNano()
		}
		return r.Updated.UnixNano()
	}
	return cmp.Or(cmp.Compare(since(a), since(b)), compareID(a, b))
}

// lowerJoin joins words with spaces, in lower case.
func lowerJoin(words ...string) string { return strings.ToLower(strings.Join(words, " ")) }
