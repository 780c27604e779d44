package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"agentctl/server"
	"agentctl/server/session"
	"agentctl/server/sqlite"
)

// running is a server over a connection in memory.
type running struct {
	dial  func(context.Context) (net.Conn, error)
	close func() error
}

// serve starts a server on the store in dir, or on what wrap makes of it.
func serve(dir string, of session.Agents, wrap func(session.Store) session.Store) (*running, error) {
	store, err := sqlite.Open(dir, sqlite.Options{})
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s, err := server.New(context.Background(), server.Config{Version: "e2e", Session: session.Config{
		Store: wrap(store), Agents: of, DefaultAgent: "main", Secret: []byte("secret"),
	}})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	pipe := server.NewPipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(pipe.Listener) }()
	return &running{dial: pipe.Dial, close: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return errors.Join(s.Shutdown(ctx), <-served, store.Close())
	}}, nil
}
