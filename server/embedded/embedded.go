package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/url"
	"os"
	"sync"
	"time"

	"agentctl/dialect"
	"agentctl/server"
	"agentctl/server/archive"
	"agentctl/server/login"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// Host is the host in URLs of the embedded server: ws://embedded for the native protocol,
// ws://embedded/dialect/NAME for a dialect.
const Host = "embedded"

// shutdownTimeout bounds the end of turns, agents and connections.
const shutdownTimeout = 20 * time.Second

// Options configures a Server.
type Options struct {
	Agents       session.Agents
	DefaultAgent string

	Dir      string            // of the store, kept; empty: a temporary directory
	URLs     map[string]string // further URLs of this server, at any path → dialect; empty: native
	Dialects server.Dialects
	Version  string
	Secret   []byte       // signs exported states
	Log      *slog.Logger // nil: discard

	Token         string               // required of clients; empty: none is
	Authenticator *login.Authenticator // of the users, whose tokens are accepted too; nil: no users
}

// A Server runs until Close. Its methods may be called from any goroutine.
type Server struct {
	// Static after construction.

	server *server.Server
	store  *sqlite.Store
	pipes  map[string]*server.Pipe // by host in URLs
	temp   string                  // directory to remove; empty: none

	serving sync.WaitGroup
	once    sync.Once
	err     error // of Close

	mu       sync.Mutex
	serveErr error
}

// Start starts a server. ctx bounds the start only.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	s := &Server{pipes: map[string]*server.Pipe{Host: server.NewPipe()}}
	for raw, name := range o.URLs {
		u, err := url.Parse(raw)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("%q is not the URL of a server", raw)
		}
		if _, ok := dialect.Find(name); !ok && name != "" {
			return nil, fmt.Errorf("%q is not a dialect", name)
		}
		p := server.NewPipe()
		p.Dialect = name
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
			err = errors.Join(err, s.cleanUp())
		}
	}()
	if s.store, err = sqlite.Open(dir, sqlite.Options{Log: o.Log}); err != nil {
		return nil, err
	}
	s.server, err = server.New(ctx, server.Config{
		Session: session.Config{
			Store:        s.store,
			Agents:       o.Agents,
			DefaultAgent: o.DefaultAgent,
			Signing:      archive.Signing{Secret: o.Secret},
			Log:          o.Log,
		},
		Version:  o.Version,
		Limits:   server.Limits{Rate: math.MaxInt32}, // the clients are parts of this program
		Dialects: o.Dialects,
		Log:      o.Log,

		Authenticator: o.Authenticator,
	})
	if err != nil {
		return nil, err
	}
	for _, p := range s.pipes {
		p.Token = o.Token
		s.serving.Go(func() {
			if err := s.server.Serve(p.Listener); err != nil {
				s.mu.Lock()
				s.serveErr = errors.Join(s.serveErr, err)
				s.mu.Unlock()
			}
		})
	}
	return s, nil
}

// Dialer returns the dial function for a URL of this server, and nil for any other URL, which is
// dialed over the network.
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

// Close stops the server, waits for its goroutines and removes a temporary store. A second call
// waits for the first and returns its error.
func (s *Server) Close() error {
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
		defer cancel()
		s.err = s.server.Shutdown(ctx)
		s.serving.Wait()
		s.err = errors.Join(s.err, s.serveErr, s.cleanUp())
	})
	return s.err
}

// cleanUp closes the store and removes its directory if it is temporary.
func (s *Server) cleanUp() (err error) {
	if s.store != nil {
		err = s.store.Close()
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}
