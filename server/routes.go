package server

import (
	"context"
	"net"
	"net/http"
	"path"
	"slices"
	"time"

	"agentctl/dialect"
	"agentctl/docs"
	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/protocol/acp"
	"agentctl/server/hook"
	"agentctl/server/login"
	"agentctl/server/web"
)

// A Route is a path of a listener that serves the native protocol.
type Route struct {
	Pattern string // of a http.ServeMux
	Open    bool   // needs no credential
	Users   bool   // refuses agents
	Link    bool   // needs a link of a hook, which is its credential; refuses agents

	Verb protocol.Verb // the command whose roles it has; empty: every role
	Role protocol.Role // the weakest role, without a Verb; empty: every role
}

// Allows reports whether a role may use the route, of an agent in its own sessions at least.
func (r *Route) Allows(role protocol.Role) bool {
	switch {
	case r.Users && role == protocol.RoleAgent:
		return false
	case r.Verb != "":
		return role.May(r.Verb)
	case role == protocol.RoleMetrics:
		return r.Open || r.Pattern == metricsRoute.Pattern
	}
	return r.Role == "" || role == "" || slices.Index(protocol.Roles, role) >= slices.Index(protocol.Roles, r.Role)
}

var metricsRoute = Route{Pattern: "GET " + metricsPath, Users: true, Role: protocol.RoleOperator}

// openAPIPath serves the description of the HTTP interface.
const openAPIPath = "/openapi.json"

// Routes lists the routes. The commands on a connection have their own roles.
func Routes() []Route {
	list := []Route{
		{Pattern: "GET /healthz", Open: true},
		{Pattern: "GET /readyz", Open: true},
		{Pattern: "GET " + openAPIPath, Open: true},
		{Pattern: "POST " + login.Path, Open: true, Users: true},
		metricsRoute,
		{Pattern: "GET " + protocol.Path},
		{Pattern: "GET " + acpPath},
		{Pattern: "GET " + hook.Path + "{token}", Link: true},
		{Pattern: "POST " + hook.Path + "{token}", Link: true, Verb: protocol.DoApprove},
	}
	for _, name := range dialect.Names() {
		list = append(list, Route{Pattern: "GET " + dialectPath + name})
	}
	for _, r := range web.Routes() {
		list = append(list, Route{Pattern: r.Pattern(), Verb: r.Verb})
	}
	return list
}

// handler routes the requests that a listener accepted.
func (s *Server) handler(l *Listener) http.Handler {
	if d, ok := dialect.Find(l.Dialect); ok {
		return s.dialectListener(d)
	}
	mux := http.NewServeMux()
	s.mountDialects(mux)
	mux.Handle("GET "+protocol.Path, s.counted(http.HandlerFunc(s.accept)))
	mux.Handle("GET "+acpPath, withSpeaksHeader(acp.Name, s.counted(http.HandlerFunc(s.acceptACP))))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if problem := s.notReady(); problem != "" {
			http.Error(w, problem, http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET "+openAPIPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(docs.OpenAPI)
	})
	mux.Handle(metricsRoute.Pattern, s.counted(http.HandlerFunc(s.serveMetrics)))
	mux.Handle("/api/", s.api)
	mux.HandleFunc("/api", web.NotFound)
	mux.HandleFunc("/", web.NotFound)
	return withSpeaksHeader(protocol.Subprotocol, withoutRedirects(mux))
}

// notReady returns why the server takes no commands, or "".
func (s *Server) notReady() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return "stopping"
	}
	if s.hub.Failed().Err() != nil {
		return "the store failed"
	}
	return ""
}

// withSpeaksHeader names the protocol of an endpoint in every response, so that a client of another
// protocol can report the mismatch.
func withSpeaksHeader(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(protocol.ProtocolHeader, name)
		next.ServeHTTP(w, r)
	})
}

// withoutRedirects answers 404 for paths that are not clean, which a ServeMux would redirect.
func withoutRedirects(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path.Clean(r.URL.Path) {
			web.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// counted serves requests that Shutdown waits for. It answers 503 during a shutdown.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.beginRequest() {
			web.WriteError(w, http.StatusServiceUnavailable, protocol.CodeShuttingDown, "the server is stopping")
			return
		}
		defer s.endRequest()
		if p := panics.As(panics.Call(func() { next.ServeHTTP(w, r) })); p != nil {
			if p.Value != http.ErrAbortHandler { //nolint:errorlint // a panic's value
				s.log.Error("request failed", "path", r.URL.Path, "err", p, "stack", string(p.Stack))
			}
			panic(http.ErrAbortHandler) // ends the connection without another log entry
		}
	})
}

// beginRequest counts in a request. It returns false when the server is stopping.
func (s *Server) beginRequest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.requests.running++
	s.requests.all.Add(1)
	return true
}

// keepRequest counts a running request once more, for a connection that outlives its handler.
func (s *Server) keepRequest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests.running++
	s.requests.all.Add(1)
}

// runningRequests returns the number of requests, connections included.
func (s *Server) runningRequests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests.running
}

func (s *Server) endRequest() {
	s.mu.Lock()
	s.requests.running--
	s.requests.lastEnd = time.Now()
	s.mu.Unlock()
	s.requests.all.Done()
}

type socketKey struct{}

// withSocket is the ConnContext of the HTTP servers.
func withSocket(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, socketKey{}, socketUnder(c))
}

// socketOf returns the network connection of a request.
func socketOf(r *http.Request) *socket { return r.Context().Value(socketKey{}).(*socket) }
