package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"agentctl/dialect"
	"agentctl/server"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// Host is the host of a server's own URLs: ws://embedded speaks natively, and below /dialect/NAME a dialect.
const Host = "embedded"

// drainPatience is how long turns, agents and connections may take to end.
const drainPatience = 20 * time.Second

// Options says what a server runs.
type Options struct {
	Agents       session.Agents
	DefaultAgent string

	Dir      string            // of the store, kept; empty: a temporary one
	URLs     map[string]string // further URLs that mean this server, at any path, with the dialect that is spoken there
	Dialects server.Dialects
	Version  string
	Secret   []byte       // signs exported states
	Log      *slog.Logger // nil: nothing is logged
}

// A Server runs until Close. Its methods may be called from any goroutine.
type Server struct {
	// Static after construction.

	server *server.Server
	store  *sqlite.Store
	pipes  map[string]*server.Pipe // by host of their URLs
	temp   string                  // to be removed; empty: nothing

	serving sync.WaitGroup
	gone    chan struct{} // closed when nothing of it runs
	once    sync.Once
	end     error // read after gone

	mu     sync.Mutex
	failed error // of serving
}

// Start starts a server. ctx bounds the starting alone.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	s := &Server{pipes: map[string]*server.Pipe{Host: server.NewPipe()}, gone: make(chan struct{})}
	for raw, spoken := range o.URLs {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("%q is not the URL of a server", raw)
		}
		if _, ok := dialect.Find(spoken); !ok && spoken != "" {
			return nil, fmt.Errorf("%q is not a dialect", spoken)
		}
		p := server.NewPipe()
		p.Dialect = spoken
		s.pipes[u.Host] = p
	}
	dir := o.Dir
	if dir == "" {
		if s.temp, err = os.MkdirTemp("", "agentctl-"); err != nil {
			return nil, fmt.Errorf("directory of the store: %w", err)
		}
		dir = s.temp
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.tidy())
		}
	}()
	if s.store, err = sqlite.Open(dir, sqlite.Options{Log: o.Log}); err != nil {
		return nil, err
	}
	s.server, err = server.New(ctx, server.Config{
		Session: session.Config{Store: s.store, Agents: o.Agents, DefaultAgent: o.DefaultAgent, Secret: o.Secret, Log: o.Log},
		Version: o.Version, Dialects: o.Dialects, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	for _, p := range s.pipes {
		s.serving.Go(func() {
			if err := s.server.Serve(p.Listener); err != nil {
				s.mu.Lock()
				s.failed = errors.Join(s.failed, err)
				s.mu.Unlock()
			}
		})
	}
	return s, nil
}

// Dialer returns how to reach a URL: over memory where it is one of this server's, nil where it is not, which is to dial it.
func (s *Server) Dialer(raw string) func(context.Context) (net.Conn, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	if p := s.pipes[u.Host]; p != nil {
		return p.Dial
	}
	return nil
}

// Active reports whether the server runs.
func (s *Server) Active() bool {
	select {
	case <-s.gone:
		return false
	default:
		return true
	}
}

// Close ends clients, turns and agents and returns when nothing of the server is left. Called again, it waits for the first call.
func (s *Server) Close() error {
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), drainPatience)
		defer cancel()
		s.end = s.server.Shutdown(ctx)
		s.serving.Wait()
		s.end = errors.Join(s.end, s.failed, s.tidy())
		close(s.gone)
	})
	<-s.gone
	return s.end
}

// tidy closes the store and removes its directory.
func (s *Server) tidy() (err error) {
	if s.store != nil {
		err = s.store.Close()
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}
