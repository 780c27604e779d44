package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/agentprocess"
	"agentctl/server/session/idempotency"
	"agentctl/server/session/list"
	"agentctl/server/session/stored"
	"agentctl/server/session/subagent"
	"agentctl/server/session/upkeep"
)

// A Hub holds every session of a store: it creates, finds and loads them, and notifies watchers of
// changes. It owns the committer and the goroutine of every session. Its methods may be called from
// any goroutine.
type Hub struct {
	cfg       Config
	current   atomic.Pointer[Config] // with the settings that Reconfigure has changed
	log       *slog.Logger
	committer *eventlog.Committer
	cache     *eventlog.Cache
	metrics   *Metrics
	list      *list.List[*Session]
	processes *agentprocess.Groups
	keys      *idempotency.Keys
	specs     *stored.Specs
	disk      *upkeep.Disk
	subAgents *subagent.Tree
	sessions  *sessionGroup
	agents    sync.WaitGroup // Run and Close calls of agents
	gitStatus chan struct{}  // holds an element for each git status that runs
	upkeep    sync.WaitGroup // goroutines that bound the store
}

// NewHub opens the sessions of a store. It kills process groups that a killed server left and loads
// sessions with an open turn or a queue.
func NewHub(ctx context.Context, cfg Config) (*Hub, error) {
	cfg.defaults()
	specs, err := stored.NewSpecs(cfg.EnvKey, cfg.Log)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the operation
	}
	h := &Hub{
		cfg: cfg, log: cfg.Log, metrics: newMetrics(), sessions: newSessionGroup(), list: list.New[*Session](),
		subAgents: subagent.NewTree(), keys: idempotency.NewKeys(cfg.Store, cfg.Log), specs: specs,
		cache: eventlog.NewCache(cfg.Limits.LogMemory), gitStatus: make(chan struct{}, maxGitStatus),
	}
	h.committer = eventlog.NewCommitter(cfg.Store, h.metrics.committed)
	h.processes = agentprocess.New(cfg.Store, h.committer, cfg.Log)
	h.current.Store(&cfg)
	h.disk = upkeep.NewDisk(func() int64 { return h.settings().Limits.Disk }, cfg.Log)
	if err := h.recover(ctx); err != nil {
		return nil, errors.Join(err, h.Close(ctx))
	}
	h.upkeep.Go(func() {
		upkeep.Every(h.sessions.ctx, time.Hour, func() { idempotency.Prune(h.sessions.ctx, cfg.Store, cfg.Log) })
	})
	store, _ := cfg.Store.(upkeep.Sizer)
	if store != nil {
		h.upkeep.Go(func() { h.disk.Watch(h.sessions.ctx, store) })
	}
	r := upkeep.Remover{
		Retention: cfg.Retention, Store: store, Log: cfg.Log, Remove: h.removeUnused,
		Sessions: func() []protocol.Summary { // sub-agents are kept as long as their parents
			return slices.DeleteFunc(h.list.List(true), func(s protocol.Summary) bool { return s.SubAgent })
		},
	}
	h.upkeep.Go(func() { r.Run(h.sessions.ctx) })
	return h, nil
}

// Store returns the store.
func (h *Hub) Store() Store { return h.cfg.Store }

// Sessions returns the list of the sessions.
func (h *Hub) Sessions() *list.List[*Session] { return h.list }

// Processes returns the process groups of the agents.
func (h *Hub) Processes() *agentprocess.Groups { return h.processes }

// Failed returns a context that ends when the store has failed for good, with its error as the cause.
// Then no session can change before the process is started again.
func (h *Hub) Failed() context.Context { return h.committer.Failed() }

// Close stops every session and agent. It returns when everything is committed and all goroutines
// have ended; agents that do not end before ctx does are left, which is an error. It waits for a
// commit beyond ctx: a store that still writes must not be closed. A turn whose agent resumes turns
// stays open for the next start; other turns end with the code server_restart.
func (h *Hub) Close(ctx context.Context) error {
	if !h.sessions.close() {
		return nil
	}
	h.sessions.running.Wait()
	h.upkeep.Wait()
	agentsDone := make(chan struct{})
	go func() {
		h.agents.Wait()
		close(agentsDone)
	}()
	var err error
	select {
	case <-agentsDone:
	case <-ctx.Done():
		err = fmt.Errorf("wait for agents: %w", context.Cause(ctx))
	}
	h.committer.Close()
	return err
}

// acquire returns the session with an id, loading it unless it is in memory.
func (h *Hub) acquire(ctx context.Context, id string) (*Session, error) {
	if h.sessions.ctx.Err() != nil {
		return nil, errShuttingDown()
	}
	return h.list.Load(ctx, id, func() (*list.Member[*Session], error) {
		if !h.sessions.add() {
			return nil, errShuttingDown()
		}
		s, err := h.load(ctx, id)
		if err != nil {
			h.sessions.running.Done()
			return nil, readError(h.log, id, err)
		}
		return member(s), nil
	})
}

// member returns a session as one in memory.
func member(s *Session) *list.Member[*Session] {
	return &list.Member[*Session]{Session: s, Log: s.journal.Log(), Done: s.mail.done}
}

// ask posts a request to a session, loading the session if needed. After an error neither of its
// functions is called.
func (h *Hub) ask(ctx context.Context, name string, f func(*Session), refuse func(error)) error {
	id, err := h.list.Resolve(name)
	if err != nil {
		return err
	}
	for {
		s, err := h.acquire(ctx, id)
		if err != nil {
			return err
		}
		asked, err := s.mail.ask(ctx, request{func() { f(s) }, refuse})
		if err != nil {
			return fmt.Errorf("wait for session %s: %w", id, err)
		}
		if asked {
			return nil
		}
	}
}

// await lets a session run f, and returns what f calls done with, once, or why f was not run.
func (h *Hub) await(ctx context.Context, name string, f func(s *Session, done func(error))) error {
	result := make(chan error, 1)
	done := func(err error) { result <- err }
	if err := h.ask(ctx, name, func(s *Session) { f(s, done) }, done); err != nil {
		return err
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// readError logs why a session could not be read and returns the error for the client. An error
// with a code is returned as it is.
func readError(log *slog.Logger, id string, err error) error {
	if protocol.CodeOf(err) != protocol.CodeInternal {
		return err
	}
	if errors.Is(err, eventlog.ErrNotFound) {
		return list.NotFound(id)
	}
	log.Error("read session", "session", id, "err", err)
	return eventlog.ReadErrorFor(id, err)
}

func errShuttingDown() error {
	return protocol.Errorf(protocol.CodeShuttingDown, "the server is stopping")
}

// A sessionGroup is the goroutines of sessions. It takes no other after its close.
type sessionGroup struct {
	ctx     context.Context // ended by close: the sessions and the upkeep end
	cancel  context.CancelFunc
	mu      sync.Mutex // guards calling cancel, and additions to running
	running sync.WaitGroup
}

func newSessionGroup() *sessionGroup {
	g := new(sessionGroup)
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// add counts in a goroutine, unless the group is closed. Its end calls running.Done.
func (g *sessionGroup) add() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		return false
	}
	g.running.Add(1)
	return true
}

// close closes the group. It returns false if that was done before.
func (g *sessionGroup) close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ctx.Err() != nil {
		return false
	}
	g.cancel()
	return true
}
