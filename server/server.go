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

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/web"
)

// A Server serves the sessions of one store on any number of listeners. Its methods may be called from any goroutine.
type Server struct {
	hub      *session.Hub
	version  string
	agents   []string
	limits   Limits
	dialects Dialects
	gate     *login.Gate // nil: no users log in
	secret   []byte      // signs what dialects hand out
	log      *slog.Logger
	started  time.Time

	mu     sync.Mutex
	conns  map[*conn]bool
	https  []*http.Server
	closed bool
	seen   time.Time      // when a client was last connected or a turn last ran
	live   sync.WaitGroup // connections
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
	now := time.Now()
	return &Server{
		hub: hub, version: "agentctl " + cfg.Version, agents: cfg.Session.Agents.Names(), limits: cfg.Limits, log: cfg.Log,
		dialects: cfg.Dialects, secret: cfg.Session.Secret, gate: cfg.Gate,
		started: now, seen: now, conns: map[*conn]bool{},
	}, nil
}

// Serve serves a listener until Shutdown, which it reports as nil, or until the listener fails. It closes the listener.
func (s *Server) Serve(l *Listener) error {
	h := &http.Server{
		Handler:           l.guard(s.gate, s.handler(l)),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
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

func (s *Server) handler(l *Listener) http.Handler {
	if d, ok := dialect.Named(l.Dialect); ok {
		return s.speak(d, "")
	}
	mux := http.NewServeMux()
	s.mount(mux)
	mux.HandleFunc("GET "+protocol.Path, s.accept)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.closed {
			http.Error(w, "stopping", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.Handle("/api/", web.Handler(s.hub, s.log))
	return mux
}

// Shutdown drains the server: clients are told to go, turns are cut (an agent that resumes goes on after the next start),
// agents end, everything is committed. It returns when nothing of the server runs any more, or with ctx's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	https := s.https
	s.mu.Unlock()
	err := s.hub.Close(ctx) // first, so that clients see how their turns end
	s.mu.Lock()
	for c := range s.conns {
		c.close(protocol.CloseGoingAway, "the server is stopping")
	}
	s.mu.Unlock()
	for _, h := range https {
		if stopErr := h.Close(); stopErr != nil && !errors.Is(stopErr, net.ErrClosed) {
			err = errors.Join(err, stopErr)
		}
	}
	s.live.Wait()
	return err
}

// Clients returns how many clients are connected.
func (s *Server) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// IdleSince returns since when no client is connected and no turn runs; ok is false while there is one.
func (s *Server) IdleSince() (since time.Time, ok bool) {
	busy := s.hub.Busy() > 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if busy || len(s.conns) > 0 {
		s.seen = time.Now()
		return s.seen, false
	}
	return s.seen, true
}

// enter counts a connection in, unless the server is closed.
func (s *Server) enter(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.conns[c] = true
	s.live.Add(1)
	return true
}

func (s *Server) leave(c *conn) {
	s.mu.Lock()
	delete(s.conns, c)
	s.seen = time.Now()
	s.mu.Unlock()
	s.live.Done()
}
