package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"agentctl/server"
	"agentctl/server/archive"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// A runningServer is a server with an in-memory listener.
type runningServer struct {
	dial   func(context.Context) (net.Conn, error)
	listen func(*server.Listener) // serves another listener until close
	close  func() error
}

// serve starts a server on the store in dir, wrapped by wrap.
func serve(dir string, of session.Agents, wrap func(session.Store) session.Store) (*runningServer, error) {
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	sandboxes, err := os.MkdirTemp("", "e2e") // dir may be too long for sockets
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s, err := server.New(context.Background(), server.Config{
		Version: "e2e", SandboxDir: sandboxes,
		Session: session.Config{
			Limits: session.Limits{LogMemory: 4 << 20}, // so that tests read the store
			Store:  wrap(store), Agents: of, DefaultAgent: "main", Signing: archive.Signing{Secret: []byte("secret")},
		},
	})
	if err != nil {
		return nil, errors.Join(err, store.Close(), os.RemoveAll(sandboxes))
	}
	pipe := server.NewPipe()
	var serving sync.WaitGroup
	var mu sync.Mutex
	var failed error
	listen := func(l *server.Listener) {
		serving.Go(func() {
			err := s.Serve(l)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	listen(pipe.Listener)
	return &runningServer{dial: pipe.Dial, listen: listen, close: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		err := s.Shutdown(ctx)
		serving.Wait()
		return errors.Join(err, failed, store.Close(), os.RemoveAll(sandboxes))
	}}, nil
}
