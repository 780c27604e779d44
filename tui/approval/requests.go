package approval

import (
	"fmt"
	"slices"

	"agentctl/protocol"
)

// requests are the pending requests of a session with their forms. One of them is shown.
type requests struct {
	pending []protocol.Approval // of the last update; the session changes its elements
	shown   string              // ID of the shown request, or ""
	forms   map[string]*Form    // by ID of a pending request
}

// update replaces the pending requests. newForm makes the form of a new one. It returns the forms of
// removed requests, and whether another request is shown now, or none.
func (l *requests) update(
	pending []protocol.Approval, newForm func(*protocol.Approval) *Form,
) (removed []*Form, changed bool) {
	l.pending = pending
	for request, f := range l.forms {
		if IndexOf(pending, request) < 0 {
			delete(l.forms, request)
			removed = append(removed, f)
		}
	}
	for i := range pending {
		if r := &pending[i]; l.forms[r.Request] == nil {
			l.forms[r.Request] = newForm(r)
		}
	}
	if IndexOf(pending, l.shown) >= 0 {
		return removed, false
	}
	l.shown = ""
	if len(pending) > 0 {
		l.shown = pending[0].Request
	}
	return removed, true
}

// current returns the shown request and its form, or nil, nil.
func (l *requests) current() (*protocol.Approval, *Form) {
	i := IndexOf(l.pending, l.shown)
	if i < 0 {
		return nil, nil
	}
	return &l.pending[i], l.forms[l.shown]
}

// cycle shows the request by places after the shown one, cyclically. It returns false if there is no
// other one.
func (l *requests) cycle(by int) bool {
	n := len(l.pending)
	if n < 2 {
		return false
	}
	l.shown = l.pending[(IndexOf(l.pending, l.shown)+by+n)%n].Request
	return true
}

// place returns the place of the shown request among several, after a space, or "".
func (l *requests) place() string {
	if len(l.pending) < 2 {
		return ""
	}
	return fmt.Sprintf(" %d of %d", IndexOf(l.pending, l.shown)+1, len(l.pending))
}

// IndexOf returns the index of a request ID, or -1.
func IndexOf(pending []protocol.Approval, request string) int {
	return slices.IndexFunc(pending, func(a protocol.Approval) bool { return a.Request == request })
}
