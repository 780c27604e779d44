package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
)

// A Hub knows every session of a store: it creates and finds them, loads them on first use, and tells watchers of their
// changes. It owns the committer and every session's goroutine. Its methods may be called from any goroutine.
type Hub struct {
	cfg       Config
	log       *slog.Logger
	committer *committer
	stop      chan struct{}  // closed by Close
	sessions  sync.WaitGroup // goroutines of sessions and searches; added to under mu, while not closed
	agents    sync.WaitGroup // runs and closings of agents
	janitor   sync.WaitGroup
	searching chan struct{} // one for each search that runs

	mu       sync.Mutex
	rows     map[string]*row
	names    map[string]string // name → session, reserved ones too
	creating map[string]chan struct{}
	watchers map[Watcher]bool
	closed   bool

	commits sync.RWMutex // held for reading while a batch is handed in, for writing by Close
	sealed  bool
}

// A Watcher is told the newest summary of sessions. Tell must not block.
type Watcher interface {
	Tell(key string, line []byte)
}

// A row is a session as the hub knows it.
type row struct {
	summary protocol.Summary // guarded by Hub.mu

	load    sync.Mutex // held while the session is loaded
	session *Session   // guarded by load; nil, or about to be when it has ended: not in memory
}

// NewHub opens the sessions of a store: it ends the process groups that a killed server left, and loads the sessions that
// were at work.
func NewHub(ctx context.Context, cfg Config) (*Hub, error) {
	cfg.defaults()
	h := &Hub{
		cfg: cfg, log: cfg.Log, committer: newCommitter(cfg.Store), stop: make(chan struct{}), rows: map[string]*row{},
		names: map[string]string{}, creating: map[string]chan struct{}{}, watchers: map[Watcher]bool{},
		searching: make(chan struct{}, searchers),
	}
	if err := h.recover(ctx); err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	h.janitor.Add(1)
	go h.forget()
	return h, nil
}

func (h *Hub) recover(ctx context.Context) error {
	groups, err := h.cfg.Store.Groups(ctx)
	if err != nil {
		return fmt.Errorf("read process groups: %w", err)
	}
	var ending sync.WaitGroup
	for _, g := range groups {
		ending.Go(func() { // each may take its time to end
			if err := h.cfg.EndGroup(g); err != nil {
				h.log.Warn("end left process group", "session", g.Session, "pid", g.PID, "err", err)
			}
		})
	}
	ending.Wait()
	for _, g := range groups {
		g.Ended = true
		h.commit(&Batch{Session: g.Session, Groups: []Group{g}}, func(error) {})
	}
	records, err := h.cfg.Store.Sessions(ctx)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	for _, rec := range records {
		r := &row{summary: protocol.Summary{Session: rec.ID, Created: rec.Created}}
		if err := json.Unmarshal(rec.Summary, &r.summary); err != nil {
			h.log.Error("decode summary", "session", rec.ID, "err", err)
		}
		r.summary.Epoch, r.summary.Clients = rec.Epoch, 0
		h.rows[rec.ID] = r
		if r.summary.Name != "" {
			h.names[r.summary.Name] = rec.ID
		}
	}
	for _, rec := range records {
		if rec.Live {
			if err := h.settled(ctx, rec.ID); err != nil {
				h.log.Error("load session that was at work", "session", rec.ID, "err", err)
			}
		}
	}
	return nil
}

// settled loads a session and returns when what its recovery recorded is visible.
func (h *Hub) settled(ctx context.Context, id string) error {
	visible := make(chan error, 1)
	if err := h.with(ctx, id, func(s *Session) {
		s.tellSummary()
		s.then(func(err error) { visible <- err })
	}); err != nil {
		return err
	}
	select {
	case err := <-visible:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forget drops answers that need not be kept any more, once an hour.
func (h *Hub) forget() {
	defer h.janitor.Done()
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := h.cfg.Store.Forget(ctx, time.Now().Add(-KeepAnswers)); err != nil {
			h.log.Warn("forget old answers", "err", err)
		}
		cancel()
		select {
		case <-tick.C:
		case <-h.stop:
			return
		}
	}
}

// commit hands a batch in; false when the hub is closed.
func (h *Hub) commit(b *Batch, then func(error)) bool {
	h.commits.RLock()
	defer h.commits.RUnlock()
	if h.sealed {
		return false
	}
	h.committer.submit(b, then)
	return true
}

// Close stops every session and agent, and returns when all is committed and every goroutine has ended. Turns of agents
// that resume stay open for the next start; the others end with server_restart.
func (h *Hub) Close(ctx context.Context) error {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	h.closed = true
	h.mu.Unlock()
	close(h.stop)
	h.sessions.Wait()
	h.janitor.Wait()
	left := make(chan struct{})
	go func() {
		h.agents.Wait()
		close(left)
	}()
	var err error
	select {
	case <-left:
	case <-ctx.Done():
		err = fmt.Errorf("wait for agents: %w", context.Cause(ctx))
	}
	h.commits.Lock()
	h.sealed = true
	h.commits.Unlock()
	h.committer.close()
	return err
}

// acquire returns the session of an id in memory, loaded now if it is not.
func (h *Hub) acquire(ctx context.Context, id string) (*Session, error) {
	h.mu.Lock()
	r, closed := h.rows[id], h.closed
	h.mu.Unlock()
	switch {
	case closed:
		return nil, stopping()
	case r == nil:
		return nil, noSession(id)
	}
	r.load.Lock()
	defer r.load.Unlock()
	if r.session != nil {
		select {
		case <-r.session.done:
		default:
			return r.session, nil
		}
	}
	if !h.enter() {
		return nil, stopping()
	}
	s, err := h.load(ctx, id)
	if err != nil {
		h.sessions.Done()
	}
	if errors.Is(err, ErrNotFound) {
		return nil, noSession(id)
	}
	if err != nil {
		h.log.Error("load session", "session", id, "err", err)
		return nil, protocol.Errorf(protocol.CodeStorage, "session %s cannot be read; the server's log tells why", id)
	}
	r.session = s
	return s, nil
}

// unloaded lets go of a session that has ended.
func (h *Hub) unloaded(s *Session) {
	h.mu.Lock()
	r := h.rows[s.id]
	h.mu.Unlock()
	if r == nil {
		return
	}
	r.load.Lock()
	defer r.load.Unlock()
	if r.session == s {
		r.session = nil
	}
}

// enter counts a session's goroutine in, unless the hub is closed.
func (h *Hub) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.sessions.Add(1)
	}
	return !h.closed
}

func stopping() error {
	return protocol.Errorf(protocol.CodeShuttingDown, "the server is stopping")
}

// with runs f on the goroutine of a session. It is not called when an error is returned.
func (h *Hub) with(ctx context.Context, name string, f func(*Session)) error {
	id, err := h.Resolve(name)
	if err != nil {
		return err
	}
	for {
		s, err := h.acquire(ctx, id)
		if err != nil {
			return err
		}
		if s.post(func() { f(s) }) {
			return nil
		}
	}
}

func noSession(name string) error {
	return protocol.Errorf(protocol.CodeNoSession, "there is no session %.80q", name)
}

// Resolve finds a session's id by id, exact name or unique prefix of the id, with or without its "s_".
func (h *Hub) Resolve(name string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.rows[name] != nil {
		return name, nil
	}
	if id := h.names[name]; h.rows[id] != nil {
		return id, nil
	}
	found := ""
	if name != "" {
		for id := range h.rows {
			if strings.HasPrefix(id, name) || strings.HasPrefix(id, idSession+"_"+name) {
				if found != "" {
					return "", protocol.Errorf(protocol.CodeAmbiguous, "more than one session begins with %.80q: name more of it", name)
				}
				found = id
			}
		}
	}
	if found == "" {
		return "", noSession(name)
	}
	return found, nil
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
		w.Tell("summary "+sum.Session, line)
	}
}
