package list

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// A List lists the sessions of a store. S is a session in memory. Its methods may be called from
// any goroutine.
type List[S comparable] struct {
	mu            sync.Mutex
	rows          map[string]*row[S]
	names         map[string]string // name → session id, reserved names included
	conversations map[string]string // stored by an agent → id of the open session that has it, and no other
	watchers      map[Watcher]bool
}

// A row is a session in the list. All fields except loading are guarded by List.mu.
type row[S comparable] struct {
	summary protocol.Summary
	queued  time.Time  // when the first message of the queue was queued; zero: the queue is empty
	member  *Member[S] // nil: not in memory

	loading chan struct{} // capacity 1; held while the session is loaded
}

// A Member is a session in memory.
type Member[S comparable] struct {
	Session S
	Log     interface{ Position() protocol.Position }
	Done    <-chan struct{} // closed when the session has ended
}

// A Watcher receives the newest summary of sessions. Notify must not block; of lines with one key
// only the newest matters.
type Watcher interface {
	Notify(key string, line []byte)
}

// New returns an empty list.
func New[S comparable]() *List[S] {
	return &List[S]{
		rows: map[string]*row[S]{}, names: map[string]string{}, watchers: map[Watcher]bool{},
		conversations: map[string]string{},
	}
}

// Resolve returns the id of a session named by id, exact name or unique prefix of the id, with or
// without its "s_". "s_" itself names no session. The error has the code no_session or ambiguous.
func (x *List[S]) Resolve(name string) (string, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rows[name] != nil {
		return name, nil
	}
	if id := x.names[name]; x.rows[id] != nil {
		return id, nil
	}
	found, random := "", strings.TrimPrefix(name, idPrefix)
	for id := range x.rows {
		if random == "" || !strings.HasPrefix(id, idPrefix+random) {
			continue
		}
		if found != "" {
			return "", protocol.Errorf(protocol.CodeAmbiguous,
				"more than one session begins with %.80q: use a longer prefix", name)
		}
		found = id
	}
	if found == "" {
		return "", NotFound(name)
	}
	return found, nil
}

// NotFound returns the error for a session that does not exist.
func NotFound(name string) error {
	return protocol.Errorf(protocol.CodeNoSession, "there is no session %.80q", name)
}

// List returns the summaries of all sessions, most recently active first. closed includes closed
// ones.
func (x *List[S]) List(closed bool) []protocol.Summary {
	x.mu.Lock()
	defer x.mu.Unlock()
	list := make([]protocol.Summary, 0, len(x.rows))
	for _, r := range x.rows {
		if !closed && r.summary.Status == protocol.Closed {
			continue
		}
		s := r.summary
		if r.member != nil { // the row is not published for each event of a turn
			s.Seq = max(s.Seq, r.member.Log.Position().Seq)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b protocol.Summary) int {
		return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.Session, b.Session))
	})
	return list
}

// Summary returns the summary of a session; ok is false if the session does not exist.
func (x *List[S]) Summary(id string) (sum protocol.Summary, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.rows[id]; r != nil {
		return r.summary, true
	}
	return sum, false
}

// Exists reports whether there is a session with an id.
func (x *List[S]) Exists(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rows[id] != nil
}

// Len returns the number of sessions.
func (x *List[S]) Len() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.rows)
}

// Each calls f with the summary of every session, in no order. The list is locked: f must not call
// it, block, or keep the pointer.
func (x *List[S]) Each(f func(*protocol.Summary)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.rows {
		f(&r.summary)
	}
}

// Busy returns the number of sessions with a running turn or scheduled messages.
func (x *List[S]) Busy() (n int) {
	x.Each(func(s *protocol.Summary) {
		if s.Turn != "" || s.Scheduled != nil {
			n++
		}
	})
	return n
}

// Descends reports whether a session was created by the agent of another session, directly or
// through its descendants.
func (x *List[S]) Descends(id, ancestor string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for r := x.rows[id]; r != nil && r.summary.Parent != ""; r = x.rows[r.summary.Parent] {
		if r.summary.Parent == ancestor {
			return true
		}
	}
	return false
}

// OldestQueued returns when the oldest message that is first in its queue was queued; zero: all
// queues are empty.
func (x *List[S]) OldestQueued() (oldest time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range x.rows {
		if !r.queued.IsZero() && (oldest.IsZero() || r.queued.Before(oldest)) {
			oldest = r.queued
		}
	}
	return oldest
}

// SetQueued notes the time of the first queued message of a session that is loaded.
func (x *List[S]) SetQueued(id string, at time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.rows[id]; r != nil {
		r.queued = at
	}
}

// Add adds a session, assigns its name to it, and notifies watchers. m is nil for a session that is
// not in memory.
func (x *List[S]) Add(sum protocol.Summary, m *Member[S]) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rows[sum.Session] = &row[S]{summary: sum, member: m, loading: make(chan struct{}, 1)}
	if sum.Name != "" {
		x.names[sum.Name] = sum.Session
	}
	x.notifyWatchers(sum)
}

// Update stores a session's newest summary and notifies watchers. queued is the time of its first
// queued message.
func (x *List[S]) Update(sum protocol.Summary, queued time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.rows[sum.Session]; r != nil {
		if sum.Status == protocol.Closed && r.summary.Status != protocol.Closed {
			free(x.conversations, sum.Session)
		}
		r.summary, r.queued = sum, queued
		x.notifyWatchers(sum)
	}
}

// Remove removes a deleted session and its names, and notifies watchers.
func (x *List[S]) Remove(sum protocol.Summary) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.rows, sum.Session)
	free(x.conversations, sum.Session)
	free(x.names, sum.Session)
	x.notifyWatchers(sum)
}

// Watch notifies w of every later change of a summary, and returns all summaries as they are.
func (x *List[S]) Watch(w Watcher) []protocol.Summary {
	x.mu.Lock()
	x.watchers[w] = true
	x.mu.Unlock()
	return x.List(true)
}

// Unwatch ends Watch.
func (x *List[S]) Unwatch(w Watcher) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.watchers, w)
}

// notifyWatchers requires mu.
func (x *List[S]) notifyWatchers(sum protocol.Summary) {
	if len(x.watchers) == 0 {
		return
	}
	line := record.Ephemeral(protocol.SummaryChanged, sum.Session, sum)
	for w := range x.watchers {
		w.Notify("summary "+sum.Session, line)
	}
}

// Loaded returns the session if it is in memory and has not ended, or the zero value.
func (x *List[S]) Loaded(id string) S {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rows[id].loaded()
}

// Load returns the session with an id, and loads it unless it is in memory. It calls load for one
// caller at a time. The error has the code no_session if it does not exist.
func (x *List[S]) Load(ctx context.Context, id string, load func() (*Member[S], error)) (s S, err error) {
	x.mu.Lock()
	r := x.rows[id]
	x.mu.Unlock()
	if r == nil {
		return s, NotFound(id)
	}
	var none S
	loaded := func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		s = r.loaded()
		return s != none
	}
	if loaded() {
		return s, nil
	}
	select {
	case r.loading <- struct{}{}:
		defer func() { <-r.loading }()
	case <-ctx.Done():
		return s, fmt.Errorf("wait for session %s: %w", id, context.Cause(ctx))
	}
	if loaded() {
		return s, nil
	}
	m, err := load()
	if err != nil {
		return s, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	r.member = m
	return m.Session, nil
}

// Unload drops a session that has ended from memory.
func (x *List[S]) Unload(id string, s S) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.rows[id]; r != nil && r.member != nil && r.member.Session == s {
		r.member = nil
	}
}

// loaded requires List.mu.
func (r *row[S]) loaded() (s S) {
	if r == nil || r.member == nil {
		return s
	}
	select {
	case <-r.member.Done:
		return s
	default:
		return r.member.Session
	}
}
