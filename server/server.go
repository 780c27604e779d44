package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"agentctl/protocol"
	"agentctl/server/history"
	"agentctl/server/hook"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/web"
)

// A Server serves the sessions of a store on any number of listeners. Its methods may be called
// from any goroutine.
type Server struct {
	// Static after construction.

	hub       *session.Hub
	history   *history.Reader
	version   string // of the program, for hello
	agents    session.Agents
	limits    atomic.Pointer[Limits] // of new connections
	dialects  dialectServer
	auth      *login.Authenticator // nil: no users log in
	log       *slog.Logger
	admission *admission
	api       api
	traffic   *traffic
	done      chan struct{} // closed at the end of Shutdown

	mu          sync.Mutex
	conns       map[*conn]bool
	httpServers []*http.Server
	closed      bool
	requests    requests
}

// A requests counts requests, connections included. Server.mu guards it.
type requests struct {
	running int
	lastEnd time.Time      // of a request or turn
	all     sync.WaitGroup // added to while the server is not closed
}

// An api serves /api/ until its drain stops, and the links of hooks.
type api struct {
	http.Handler
	drain *drain
	hooks *hook.Hooks // nil: none
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
	cfg.Session.Permits = permits(cfg.Authenticator)
	var sockets *agentSockets
	if cfg.SandboxDir != "" {
		var err error
		if sockets, err = newAgentSockets(cfg.SandboxDir); err != nil {
			return nil, err
		}
		cfg.Session.Confine = sockets.open
	}
	hub, err := session.NewHub(ctx, cfg.Session)
	if err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	s := &Server{
		hub:       hub,
		history:   history.NewReader(cfg.Session.Store, hub.Sessions(), cfg.Session.Log),
		version:   "agentctl " + cfg.Version,
		agents:    cfg.Session.Agents,
		log:       cfg.Log,
		dialects:  dialectServer{cfg.Dialects, newResumeStores(), cfg.Session.Secret},
		auth:      cfg.Authenticator,
		done:      make(chan struct{}),
		requests:  requests{lastEnd: time.Now()},
		admission: newAdmission(cfg.Limits),
		conns:     map[*conn]bool{},
		traffic:   newTraffic(),
	}
	s.limits.Store(&cfg.Limits)
	s.api = api{drain: newDrain()}
	s.api.Handler = s.counted(s.api.drain.handler(web.Handler(web.Config{
		Hub: s.hub, History: s.history, Commands: requestCommands{s}, Documents: cfg.Documents,
		MaxBody: func() int64 { return s.limits.Load().Message }, Log: s.log,
		Failed: s.traffic.failed, Delivered: s.traffic.delivered,
	})))
	if sockets != nil {
		sockets.start(s)
	}
	if err := s.startHooks(&cfg); err != nil {
		return nil, errors.Join(err, s.Shutdown(ctx))
	}
	return s, nil
}

// Reconfigure changes limits, for connections that are opened later, and settings of sessions; see
// session.Hub.Reconfigure. It ignores the other fields.
func (s *Server) Reconfigure(cfg Config) {
	cfg.Limits.defaults()
	s.limits.Store(&cfg.Limits)
	s.admission.setLimits(cfg.Limits)
	s.hub.Reconfigure(cfg.Session)
}

// Serve serves a listener until Shutdown, then it returns nil, or until the listener fails. It
// closes the listener.
func (s *Server) Serve(l *Listener) error {
	h := &http.Server{
		Handler:           s.checkAccess(l, s.handler(l)),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnContext:       withSocket,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug), // counted logs panics
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return l.Close()
	}
	s.httpServers = append(s.httpServers, h)
	s.mu.Unlock()
	defer s.removeHTTPServer(h)
	var sockets net.Listener = countedListener{l.Listener, s.admission}
	if l.tls != nil {
		sockets = tls.NewListener(sockets, l.tls)
	}
	if err := h.Serve(sockets); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// removeHTTPServer closes a server whose listener was closed, with its connections.
func (s *Server) removeHTTPServer(h *http.Server) {
	_ = h.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.httpServers = slices.DeleteFunc(s.httpServers, func(o *http.Server) bool { return o == h })
}

// Failed returns a context that ends when the store has failed for good, with its error as the cause.
// The process should end, so that a new one recovers from the disk.
func (s *Server) Failed() context.Context { return s.hub.Failed() }

// Shutdown stops the server: it ends turns (turns of agents that resume stay open for the next
// start), stops agents, commits everything, closes clients, and returns when no goroutine of the
// server runs. When ctx ends first, it aborts connections and leaves agents that have not ended,
// which is an error. A second call waits for the first.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	httpServers := slices.Clone(s.httpServers)
	s.mu.Unlock()
	if again {
		select {
		case <-s.done:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("wait for shutdown: %w", context.Cause(ctx))
		}
	}
	defer close(s.done)
	s.api.drain.announced.Store(true)
	err := s.api.hooks.Close(ctx)
	var reads sync.WaitGroup
	reads.Go(s.history.Close)
	err = errors.Join(err, s.hub.Close(ctx)) // before the clients, so that they receive the ends of their turns
	reads.Wait()
	s.api.drain.stop(ctx)
	s.eachConn(func(c *conn) { c.close(protocol.CloseGoingAway, "the server is stopping") })
	for _, h := range httpServers {
		if closeErr := h.Close(); closeErr != nil && !errors.Is(closeErr, net.ErrClosed) {
			err = errors.Join(err, closeErr)
		}
	}
	defer context.AfterFunc(ctx, func() { s.eachConn((*conn).abort) })()
	s.requests.all.Wait()
	return err
}

// eachConn calls f with every connection. f must not block.
func (s *Server) eachConn(f func(*conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		f(c)
	}
}

// IdleSince returns the time since which the server is idle: no client connected, no HTTP request,
// turn or agent process running, and no message scheduled. ok is false while it is not idle.
func (s *Server) IdleSince() (since time.Time, ok bool) {
	busy := s.hub.Sessions().Busy()+s.hub.Processes().Len() > 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if busy || s.requests.running > 0 {
		s.requests.lastEnd = time.Now()
		return s.requests.lastEnd, false
	}
	return s.requests.lastEnd, true
}

// addConn registers a connection. It closes the connection if the server is stopping.
func (s *Server) addConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
	if s.closed {
		c.close(protocol.CloseGoingAway, "the server is stopping")
	}
}

func (s *Server) removeConn(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}
