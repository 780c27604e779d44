package tour

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"agentctl/internal/cli/screen"
	"agentctl/tui/remote"
	"agentctl/tui/tour"
)

// tourOutage is the time after which a broken connection of the tour is restored automatically.
const tourOutage = 20 * time.Second

// errTourCut is the error of connection attempts while the link is cut.
var errTourCut = errors.New("the tour cut the connection")

// A tourLink is the connection between the screen and the server of the tour, which a step breaks.
// Its methods may be called from any goroutine.
type tourLink struct {
	dial func(context.Context) (net.Conn, error)

	mu    sync.Mutex
	conns []net.Conn
	until time.Time // end of the outage
}

var _ tour.Link = (*tourLink)(nil)

// Dial connects to the server, unless the link is cut.
func (l *tourLink) Dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	cut := time.Now().Before(l.until)
	l.mu.Unlock()
	if cut {
		return nil, errTourCut
	}
	conn, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, conn)
	return conn, nil
}

// Cut closes all connections and refuses new ones for a while.
func (l *tourLink) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Now().Add(tourOutage)
	for _, conn := range l.conns {
		_ = conn.Close() // the client has lost it either way
	}
	l.conns = nil
}

// Restore accepts connections again.
func (l *tourLink) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.until = time.Time{}
}

// A tourServer is the server of the tour. A user who connects now ends an outage.
type tourServer struct {
	screen.Server
	link *tourLink
}

var _ remote.Retrier = tourServer{}

// Retry restores the link and connects.
func (s tourServer) Retry() {
	s.link.Restore()
	s.Server.Retry()
}

// Session returns one session.
func (s tourServer) Session(id string) remote.Session {
	return tourSession{&screen.Session{Client: s.Client, Session: id}, s.link}
}

// A tourSession is a session of a tourServer.
type tourSession struct {
	*screen.Session
	link *tourLink
}

var _ remote.Retrier = tourSession{}

// Retry restores the link and connects.
func (s tourSession) Retry() {
	s.link.Restore()
	s.Session.Retry()
}
