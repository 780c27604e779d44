package session

import (
	"cmp"
	"slices"

	"agentctl/protocol"
)

// A Watcher is told the newest summary of sessions. Notify must not block.
type Watcher interface {
	Notify(key string, line []byte)
}

// List returns the summaries of all sessions, those of newest activity first.
func (h *Hub) List(closed bool) []protocol.Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]protocol.Summary, 0, len(h.rows))
	for _, r := range h.rows {
		if closed || r.summary.Status != protocol.Closed {
			list = append(list, r.summary)
		}
	}
	slices.SortFunc(list, func(a, b protocol.Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Session, b.Session))
	})
	return list
}

// Watch tells w every change of a summary from now on, and returns all as they are.
func (h *Hub) Watch(w Watcher) []protocol.Summary {
	h.mu.Lock()
	h.watchers[w] = true
	h.mu.Unlock()
	return h.List(true)
}

// Unwatch ends Watch.
func (h *Hub) Unwatch(w Watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
}

// Busy returns how many sessions have a turn under way.
func (h *Hub) Busy() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, r := range h.rows {
		if r.summary.Turn != "" {
			n++
		}
	}
	return n
}

// told takes note of a session's newest summary.
func (h *Hub) told(sum protocol.Summary) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.rows[sum.Session]; r != nil {
		r.summary = sum
		h.tell(sum)
	}
}

// removed forgets a deleted session.
func (h *Hub) removed(sum protocol.Summary) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.rows, sum.Session)
	for name, id := range h.names {
		if id == sum.Session {
			delete(h.names, name)
		}
	}
	h.tell(sum)
}

func (h *Hub) tell(sum protocol.Summary) {
	if len(h.watchers) == 0 {
		return
	}
	line := ephemeral(protocol.SummaryChanged, sum.Session, sum)
	for w := range h.watchers {
		w.Notify("summary "+sum.Session, line)
	}
}
