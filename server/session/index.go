package session

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/record"
)

// An index lists the sessions of a store, in memory or not: their summaries, names and watchers.
// Its methods may be called from any goroutine.
type index struct {
	mu       sync.Mutex
	rows     map[string]*row
	names    map[string]string // name → session id, reserved names included
	watchers map[Watcher]bool

	conversations map[string]string // conversation of an agent → id of the open session that has it
	holds         map[string]string // id of a session → its conversation

	processes map[agent.ProcessGroup]bool // that run
}

// A row is a session in the index.
type row struct {
	// Guarded by index.mu.

	summary protocol.Summary
	queued  time.Time // when the first message of the queue was queued; zero: the queue is empty

	loading chan struct{} // capacity 1; held while the session is loaded
	session atomic.Pointer[Session]
}

func newRow(summary protocol.Summary, s *Session) *row {
	r := &row{summary: summary, loading: make(chan struct{}, 1)}
	r.session.Store(s)
	return r
}

// loaded returns the session if it is in memory, or nil.
func (r *row) loaded() *Session {
	s := r.session.Load()
	if s != nil {
		select {
		case <-s.done:
			return nil
		default:
		}
	}
	return s
}

// A Watcher receives the newest summary of sessions. Notify must not block; of lines with one key
// only the newest matters.
type Watcher interface {
	Notify(key string, line []byte)
}

func newIndex() index {
	return index{
		rows: map[string]*row{}, names: map[string]string{}, watchers: map[Watcher]bool{},
		processes: map[agent.ProcessGroup]bool{}, conversations: map[string]string{},
		holds: map[string]string{},
	}
}

// Resolve returns the id of a session named by id, exact name or unique prefix of the id, with or
// without its "s_", which alone names none. The error has the code no_session or ambiguous.
func (x *index) Resolve(name string) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rows[name] != nil {
		return name, nil
	}
	if id := x.names[name]; x.rows[id] != nil {
		return id, nil
	}
	found := ""
	if random := strings.TrimPrefix(name, idSession+"_"); random != "" {
		for id := range x.rows {
			if strings.HasPrefix(id, idSession+"_"+random) {
				if found != "" {
					return "", protocol.Errorf(
						protocol.CodeAmbiguous,
						"more than one session begins with %.80q: use a longer prefix",
						name,
					)
				}
				found = id
			}
		}
	}
	if found == "" {
		return "", errNoSession(name)
	}
	return found, nil
}

// List returns the summaries of all sessions, most recently active first. closed includes closed
// ones.
func (x *index) List(closed bool) []protocol.Summary {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := make([]protocol.Summary, 0, len(x.rows))
	for _, r := range x.rows {
		if !closed && r.summary.Status == protocol.Closed {
			continue
		}
		s := r.summary
		if loaded := r.session.Load(); loaded != nil { // the row is not published for each event of a turn
			s.Seq = max(s.Seq, loaded.journal.Log().Position().Seq)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b protocol.Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Session, b.Session))
	})
	return list
}

// Summary returns the summary of a session; ok is false if there is none.
func (x *index) Summary(id string) (sum protocol.Summary, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.rows[id]
	if r == nil {
		return sum, false
	}
	return r.summary, true
}

// Each calls f with the summary of every session, in no order. The index is locked: f must not call
// it, block, or keep the pointer.
func (x *index) Each(f func(*protocol.Summary)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.rows {
		f(&r.summary)
	}
}

// Watch notifies w of every later change of a summary, and returns all summaries as they are.
func (x *index) Watch(w Watcher) []protocol.Summary {
	x.mu.Lock()
	x.watchers[w] = true
	x.mu.Unlock()
	return x.List(true)
}

// Unwatch ends Watch.
func (x *index) Unwatch(w Watcher) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.watchers, w)
}

// addProcess counts in a process group before its start is recorded. It returns false above the
// limit.
func (x *index) addProcess(g agent.ProcessGroup, limit int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.processes) >= limit {
		return false
	}
	x.processes[g] = true
	return true
}

// removeProcess counts out a process group at its end.
func (x *index) removeProcess(g agent.ProcessGroup) {
	x.mu.Lock()
	defer x.mu.Unlock()
	g.Ended = false
	delete(x.processes, g)
}

// Busy returns the number of sessions with a turn under way or scheduled messages, and of process
// groups of agents.
func (x *index) Busy() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(x.processes)
	for _, r := range x.rows {
		if r.summary.Turn != "" || r.summary.Scheduled != nil {
			n++
		}
	}
	return n
}

// Processes returns the number of process groups of agents.
func (x *index) Processes() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.processes)
}

// OldestQueued returns when the oldest message that is first in its queue was queued; zero: all
// queues are empty.
func (x *index) OldestQueued() (oldest time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.rows {
		if !r.queued.IsZero() && (oldest.IsZero() || r.queued.Before(oldest)) {
			oldest = r.queued
		}
	}
	return oldest
}

// setQueued notes the time of the first queued message of a session that is loaded.
func (x *index) setQueued(id string, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.rows[id]; r != nil {
		r.queued = at
	}
}

// full reports whether the index has so many sessions.
func (x *index) full(limit int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.rows) >= limit
}

// row returns the row of an id, or nil.
func (x *index) row(id string) *row {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rows[id]
}

// addRow adds a session and notifies watchers.
func (x *index) addRow(r *row) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rows[r.summary.Session] = r
	x.notifyWatchers(r.summary)
}

// updateSummary stores a session's newest summary and notifies watchers. queued is the time of its
// first queued message.
func (x *index) updateSummary(sum protocol.Summary, queued time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.rows[sum.Session]; r != nil {
		if sum.Status == protocol.Closed && r.summary.Status != protocol.Closed {
			x.freeConversation(sum.Session)
		}
		r.summary, r.queued = sum, queued
		x.notifyWatchers(sum)
	}
}

// removeSession removes a deleted session and its names, and notifies watchers.
func (x *index) removeSession(sum protocol.Summary) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.rows, sum.Session)
	x.freeConversation(sum.Session)
	for name, id := range x.names {
		if id == sum.Session {
			delete(x.names, name)
		}
	}
	x.notifyWatchers(sum)
}

// notifyWatchers requires mu.
func (x *index) notifyWatchers(sum protocol.Summary) {
	if len(x.watchers) == 0 {
		return
	}
	line := record.Ephemeral(protocol.SummaryChanged, sum.Session, sum)
	for w := range x.watchers {
		w.Notify("summary "+sum.Session, line)
	}
}

const maxName = 128 // bytes of a session's name

// reserveName assigns a name to a session. The error has the code invalid_message or name_taken.
func (x *index) reserveName(name, id string) error {
	if len(name) > maxName || name != protocol.ValidText(name) || strings.TrimSpace(name) != name ||
		strings.ContainsFunc(name, unicode.IsControl) || strings.HasPrefix(name, idSession+"_") {
		return protocol.Errorf(
			protocol.CodeInvalidMessage,
			"name: at most %d bytes of text, without control characters, outer spaces or a leading %q",
			maxName,
			idSession+"_",
		)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if owner, taken := x.names[name]; taken && owner != id {
		return protocol.Errorf(protocol.CodeNameTaken, "another session has the name %.80q", name)
	}
	x.names[name] = id
	return nil
}

// releaseName frees a name.
func (x *index) releaseName(name string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.names, name)
}
