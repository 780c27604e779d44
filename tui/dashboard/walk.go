package dashboard

import (
	"fmt"

	"agentctl/protocol"
	"agentctl/tui/sessionlist"
)

// walk chooses the sessions whose requests are decided one after the other, the most urgent first.
// Sessions that begin to wait during the walk come too. The zero value of seen means that there is no
// walk.
type walk struct {
	list     *sessionlist.List
	servers  *servers
	only     map[string]bool // sessions of the walk; nil: all
	except   string          // a session that is not part of it, or ""
	seen     map[string]bool // sessions whose requests were shown
	replaced bool            // the last request was removed without a key of the user
	skipped  bool            // the key that begins the walk skipped the last request
}

// begin begins a walk through sessions, or through all but one if only is nil. It returns false if none
// of them has a request.
func (w *walk) begin(only map[string]bool, except string) bool {
	w.except = except
	w.only, w.seen, w.replaced, w.skipped = only, map[string]bool{}, false, false
	if _, left := w.rest(); left == 0 {
		w.stop()
		return false
	}
	return true
}

// next returns the next session of the walk. After the last one it ends the walk.
func (w *walk) next() (s protocol.Summary, ok bool) {
	session, left := w.rest()
	if left == 0 {
		w.stop()
		return s, false
	}
	w.seen[session], w.skipped = true, false
	return w.list.Get(session)
}

// rest returns the session whose request is next, and the number of sessions still to be shown.
func (w *walk) rest() (next string, left int) {
	for session, need := range w.list.Needs() {
		if need != sessionlist.ApprovalPending || w.seen[session] || session == w.except ||
			w.only != nil && !w.only[session] || w.servers.refuse(session) != nil {
			continue
		}
		if left++; left == 1 {
			next = session
		}
	}
	return next, left
}

// place returns the place of the shown session in the walk, or "" without others.
func (w *walk) place() string {
	_, left := w.rest()
	if total := len(w.seen) + left; w.active() && total > 1 {
		return fmt.Sprintf("%d of %d", len(w.seen), total)
	}
	return ""
}

func (w *walk) active() bool { return w.seen != nil }

func (w *walk) stop() { w.only, w.seen = nil, nil }
