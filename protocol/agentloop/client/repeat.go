package client

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// An earlierEvent is an event that the server leaves out when it repeats the turn. Its place is
// after the given number of bytes of text and of calls.
type earlierEvent struct {
	text, calls int
	entry       codec.Entry
}

// A repeatedTurn holds the rest of a lost turn while the server repeats that turn from its start.
type repeatedTurn struct {
	approvals []protocol.Approval // pending requests
	events    []earlierEvent      // which the server does not repeat
}

// decidedEvents returns the events of the turn's requests that were decided.
func decidedEvents(events []protocol.Event) (list []earlierEvent) {
	over := map[string]bool{}
	for i := range events {
		if e := &events[i]; e.Type == protocol.ApprovalResolved {
			over[codec.DecodeEvent[protocol.ApprovalResolvedData](e).Request] = true
		}
	}
	at := earlierEvent{}
	for i := range events {
		e := &events[i]
		switch e.Type {
		case protocol.TextDelta:
			at.text += len(codec.DecodeEvent[protocol.PartDeltaData](e).Text)
		case protocol.ToolStarted:
			at.calls++
		case protocol.ApprovalRequested, protocol.ApprovalExplained, protocol.ApprovalResolved:
			if over[codec.DecodeEvent[protocol.ApprovalResolvedData](e).Request] {
				at.entry = codec.Entry{Type: e.Type, Turn: e.Turn, By: e.By, Time: e.Time, Data: e.Data}
				list = append(list, at)
			}
		}
	}
	return list
}

// take removes and returns the events that come next in the turn. room is how many bytes of text may
// come before the next one; negative: any.
func (r *repeatedTurn) take(t *turn) (events []codec.Entry, room int) {
	for len(r.events) > 0 && r.events[0].calls <= t.callCount && r.events[0].text <= t.textBytes {
		events = append(events, r.events[0].entry)
		r.events = r.events[1:]
	}
	if len(r.events) > 0 && r.events[0].calls <= t.callCount {
		return events, r.events[0].text - t.textBytes
	}
	return events, -1
}

// takeApproval removes a request and returns its id; ok is false if it is new.
func (r *repeatedTurn) takeApproval(a *protocol.Approval) (request string, ok bool) {
	same := func(old protocol.Approval) bool { return sameRequest(&old, a) }
	i := slices.IndexFunc(r.approvals, same)
	if i < 0 {
		return "", false
	}
	request = r.approvals[i].Request
	r.approvals = slices.Delete(r.approvals, i, i+1)
	return request, true
}
