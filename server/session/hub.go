package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	h.janitor.Go(h.forget)
	return h, nil
}

// forget drops answers that need not be kept any more, once an hour.
func (h *Hub) forget() {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := h.cfg.Store.PruneAnswers(ctx, time.Now().Add(-AnswerTTL)); err != nil {
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

// Close stops every session and agent, and returns when all is committed and every goroutine has ended: all but those of agents
// that do not end before ctx does, which is an error. Turns of agents that resume stay open for the next start; the others end with
// server_restart.
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
		return nil, h.unreadable(id, err)
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
