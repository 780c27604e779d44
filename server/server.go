package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server/login"
	"agentctl/server/session"
)

// A Server serves the sessions of one store on any number of listeners. Its methods may be called from any goroutine.
type Server struct {
	hub      *session.Hub
	version  string
	agents   []string
	limits   Limits
	dialects Dialects
	trails   map[string]*codec.ResumeStore // by dialect
	gate     *login.Authenticator          // nil: no users log in
	secret   []byte                        // signs what dialects hand out
	log      *slog.Logger

	gone chan struct{} // closed when Shutdown is done

	mu       sync.Mutex
	conns    map[*conn]bool
	https    []*http.Server
	closed   bool
	seen     time.Time      // when a client was last connected or a turn last ran
	requests int            // under way, connections among them
	live     sync.WaitGroup // the same, to be waited for; added to under mu, while not closed
}

// New opens the sessions of the configured store; see session.NewHub.
func New(ctx context.Context, cfg Config) (*Server, error) {
	cfg.Limits.defaults()
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Session.Log == nil {
		cfg.Session.Log = cfg.Log
	}
	hub, err := session.NewHub(ctx, cfg.Session)
	if err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	return &Server{
		hub: hub, version: "agentctl " + cfg.Version, agents: cfg.Session.Agents.Names(), limits: cfg.Limits, log: cfg.Log,
		dialects: cfg.Dialects, trails: trails(), secret: cfg.Session.Secret, gate: cfg.Authenticator,
		gone: make(chan struct{}), seen: time.Now(), conns: map[*conn]bool{},
	}, nil
}

// Serve serves a listener until Shutdown, which it reports as nil, or until the listener fails. It closes the listener.
func (s *Server) Serve(l *Listener) error {
	h := &http.Server{
		Handler:           l.guard(s.gate, s.counted(s.gate), s.handler(l)),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       withSocket,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	s.https = append(s.https, h)
	s.mu.Unlock()
	if err := h.Serve(l.Listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// Shutdown drains the server: clients are told to go, turns are cut (an agent that resumes goes on after the next start),
// agents end, everything is committed. It returns when nothing of the server runs any more. When ctx ends before that, clients
// are cut off and agents that have not ended are left: an error. Called again, it waits for the first call.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	https := s.https
	s.mu.Unlock()
	if again {
		select {
		case <-s.gone:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for shutdown: %w", context.Cause(ctx))
		}
	}
	defer close(s.gone)
	err := s.hub.Close(ctx) // first, so that clients see how their turns end
	s.each(func(c *conn) { c.close(protocol.CloseGoingAway, "the server is stopping") })
	for _, h := range https {
		if stopErr := h.Close(); stopErr != nil && !errors.Is(stopErr, net.ErrClosed) {
			err = errors.Join(err, stopErr)
		}
	}
	defer context.AfterFunc(ctx, func() { s.each((*conn).cut) })()
	s.live.Wait()
	return err
}

func (s *Server) each(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// Clients returns how many clients are connected.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// IdleSince returns since when no client is connected, by HTTP neither, and no turn runs; ok is false while there is one.
func (s *Server) IdleSince() (since time.Time, ok bool) {
	busy := s.hub.Busy() > 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if busy || s.requests > 0 {
		s.seen = time.Now()
		return s.seen, false
	}
	return s.seen, true
}

// enter counts a connection in.
func (s *Server) enter(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	if s.closed { // meanwhile
		c.close(protocol.CloseGoingAway, "the server is stopping")
	}
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}
