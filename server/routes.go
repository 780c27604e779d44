package server

import (
	"context"
	"net"
	"net/http"
	"path"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server/web"
)

// handler routes what came through a listener's guard.
func (s *Server) handler(l *Listener) http.Handler {
	if d, ok := dialect.Find(l.Dialect); ok {
		return s.foreign(d)
	}
	mux := http.NewServeMux()
	s.mount(mux)
	mux.Handle("GET "+protocol.Path, s.counted(http.HandlerFunc(s.accept)))
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
	mux.Handle("/api/", s.counted(web.Handler(s.hub, s.log)))
	mux.HandleFunc("/api", web.NotFound)
	mux.HandleFunc("/", web.NotFound)
	return spoken(protocol.Subprotocol, exact(mux))
}

// spoken says with every response what is spoken here, so that a client of another language can say what is wrong.
func spoken(what string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(protocol.ProtocolHeader, what)
		next.ServeHTTP(w, r)
	})
}

// exact answers paths as they are written: the mux would redirect those that are spelt in another way.
func exact(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path.Clean(r.URL.Path) {
			web.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// counted serves requests that Shutdown waits for; once it has begun there are no more, and never more than the limit.
func (s *Server) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.begin(); err != nil {
			web.Refuse(w, http.StatusServiceUnavailable, err.Code, err.Message)
			return
		}
		defer s.done()
		next.ServeHTTP(w, r)
	})
}

func (s *Server) begin() *protocol.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return protocol.Errorf(protocol.CodeShuttingDown, "the server is stopping")
	case s.requests >= s.limits.Connections:
		return protocol.Errorf(protocol.CodeTooMany, "the server has %d connections and takes no more", s.requests)
	}
	s.requests++
	s.live.Add(1)
	return nil
}

func (s *Server) done() {
	s.mu.Lock()
	s.requests--
	s.seen = time.Now()
	s.mu.Unlock()
	s.live.Done()
}

type socketKey struct{}

func withSocket(ctx context.Context, socket net.Conn) context.Context {
	return context.WithValue(ctx, socketKey{}, socket)
}

// socketOf returns the connection that a request came by.
func socketOf(r *http.Request) net.Conn { return r.Context().Value(socketKey{}).(net.Conn) }
