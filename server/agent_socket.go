package server

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"agentctl/server/sandbox"
)

// agentSockets are the sockets by which agents in sandboxes reach the server. A client of one is
// known as the agent of its session, whatever it sends.
type agentSockets struct {
	dir string // only the server reads and writes it

	ready  chan struct{} // closed when server is set
	server *Server
}

// newAgentSockets removes what a killed server left in a directory. The caller must hold the lock
// of the data directory.
func newAgentSockets(dir string) (*agentSockets, error) {
	if err := sandbox.RemoveLeft(dir); err != nil {
		return nil, fmt.Errorf("remove old sandboxes: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("directory of sandboxes: %w", err)
	}
	return &agentSockets{dir: dir, ready: make(chan struct{})}, nil
}

// start serves the sockets that are open and those that are opened later.
func (a *agentSockets) start(s *Server) {
	a.server = s
	close(a.ready)
}

// open makes a directory for the sandbox of a session, with a socket. close ends its clients and
// removes it.
func (a *agentSockets) open(session string) (dir string, release func(), err error) {
	if dir, err = os.MkdirTemp(a.dir, ""); err != nil {
		return "", nil, fmt.Errorf("directory of the sandbox: %w", err)
	}
	l, err := listenUnix(filepath.Join(dir, sandbox.SocketName))
	if err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, err
	}
	l.agent = session
	closed := make(chan struct{})
	var serving sync.WaitGroup
	serving.Go(func() {
		select {
		case <-a.ready:
			_ = a.server.Serve(l) // until release or shutdown
		case <-closed:
		}
	})
	return dir, func() {
		close(closed)
		_ = l.Close()
		serving.Wait()
		_ = os.RemoveAll(dir)
	}, nil
}
