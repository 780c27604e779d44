package sessionlist

import "agentctl/protocol"

// Group is a part of the list in the order by need. Its value is its place in that order.
type Group uint8

// The groups.
const (
	NeedsYou Group = iota // a request is pending, or queued messages are held
	Failed                // the last turn failed
	Running
	Unread // a turn has ended since the user last opened the session
	Idle
	Closed

	groups = int(Closed) + 1
)

// String returns the heading of the group.
func (g Group) String() string {
	return [groups]string{"Needs you", "Failed", "Running", "Finished, unread", "Idle", "Closed"}[g]
}

// group returns the group in which the session is listed: a sub-agent is listed with its parent, which
// has its requests.
func (r *row) group() Group {
	by := r
	if r.SubAgent && r.anchor != nil {
		by = r.anchor
	}
	if g := by.ownGroup(); g != NeedsYou || !by.SubAgent {
		return g
	}
	return Running
}

// ownGroup returns the group by the state of the session alone.
func (r *row) ownGroup() Group {
	switch {
	case r.Status == protocol.Closed:
		return Closed
	case r.Status == protocol.Waiting:
		return NeedsYou
	case r.Status == protocol.Running:
		return Running
	case r.Held && r.Queue > 0:
		return NeedsYou
	case r.failed():
		return Failed
	case r.unread:
		return Unread
	}
	return Idle
}

// Count returns the number of listed sessions in a group, sub-agents included.
func (l *List) Count(g Group) int { return l.values[byGroup][g] }

// GroupOf returns the group of a session by its state alone. An unknown one is Idle.
func (l *List) GroupOf(session string) Group {
	if r := l.rows[session]; r != nil {
		return r.ownGroup()
	}
	return Idle
}
