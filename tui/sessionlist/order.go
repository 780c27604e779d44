package sessionlist

import (
	"cmp"
	"slices"
	"strings"

	"agentctl/protocol"
)

// An Order is how sessions are sorted. Its value is what the screen calls it.
type Order string

// The orders, in which Next goes round.
const (
	ByNeed     Order = "need"     // who asks, the longest waiting first, then at work, idle and closed
	ByActivity Order = "activity" // the latest first
	ByName     Order = "name"
	ByAgent    Order = "agent"
	ByContext  Order = "context" // the fullest first
)

var orders = []Order{ByNeed, ByActivity, ByName, ByAgent, ByContext}

// Next is the order after o.
func (o Order) Next() Order { return orders[(slices.Index(orders, o)+1)%len(orders)] }

// compare is how two sessions follow each other; what is the same in an order goes by need.
func (o Order) compare() func(a, b *row) int {
	switch o {
	case ByActivity:
		return func(a, b *row) int { return cmp.Or(b.Updated.Compare(a.Updated), byID(a, b)) }
	case ByName:
		return func(a, b *row) int { return cmp.Or(cmp.Compare(a.sortName, b.sortName), byID(a, b)) }
	case ByAgent:
		return func(a, b *row) int { return cmp.Or(cmp.Compare(a.Agent, b.Agent), byNeed(a, b)) }
	case ByContext:
		return func(a, b *row) int { return cmp.Or(cmp.Compare(b.Percent, a.Percent), byNeed(a, b)) }
	}
	return byNeed
}

func byID(a, b *row) int { return cmp.Compare(a.Session, b.Session) }

func byNeed(a, b *row) int {
	if d := cmp.Compare(rank(a), rank(b)); d != 0 {
		return d
	}
	if a.Asked != nil && b.Asked != nil && !a.Asked.Equal(*b.Asked) {
		return a.Asked.Compare(*b.Asked)
	}
	return cmp.Or(b.Updated.Compare(a.Updated), byID(a, b))
}

func rank(r *row) int {
	switch r.Status {
	case protocol.Waiting:
		return 0
	case protocol.Running:
		return 1
	case protocol.Idle:
		return 2
	}
	return 3
}

// A Need is why a session wants somebody.
type Need uint8

// The needs, the most urgent first.
const (
	ApprovalPending Need = iota + 1 // an approval is pending
	QueueHeld                       // messages wait behind a hold
	TurnFailed                      // a turn failed and nobody has looked
)

// need is 0 for a session that wants nobody.
func (r *row) need() Need {
	switch {
	case r.Status == protocol.Closed:
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

func (r *row) failed() bool {
	end := protocol.TurnEndedData{Reason: r.Reason}
	return r.Turn == "" && r.Reason != "" && end.Failed()
}

// byUrgency is the order in which sessions want somebody. Who waits is served in turn, the longest waiting first; of failures
// the latest is worth the most.
func byUrgency(a, b *row) int {
	if d := cmp.Compare(a.need(), b.need()); d != 0 {
		return d
	}
	if a.need() == TurnFailed {
		return cmp.Or(b.Updated.Compare(a.Updated), byID(a, b))
	}
	since := func(r *row) int64 {
		if r.Asked != nil {
			return r.Asked.UnixNano()
		}
		return r.Updated.UnixNano()
	}
	return cmp.Or(cmp.Compare(since(a), since(b)), byID(a, b))
}

func lower(words ...string) string { return strings.ToLower(strings.Join(words, " ")) }
