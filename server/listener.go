package server

import (
	"context"
	"errors"
	"fmt"
	"net"

	"agentctl/protocol"
)

// A Listener is a way in and who may use it.
type Listener struct {
	net.Listener

	// Token, when there is one, must come as a bearer credential or in ?token=. Without one whoever reaches the listener is
	// let in.
	Token string

	// Role is what they may do; empty: everything. Users who log in have their own.
	Role protocol.Role

	// Origins are the web origins that may connect ("https://host:port"); no other browser page may.
	Origins []string

	// Dialect, when there is one, is all that the listener speaks, at any path.
	Dialect string

	hosts map[string]bool // that a Host header may name; nil: any
}

// ErrExposed is the error of a listener that other machines could reach.
var ErrExposed = errors.New("other machines could reach this address: it needs authentication and TLS, or --insecure")

// ListenUnix listens on a Unix socket that only its owner can open (mode 0600), in place of a socket that nobody serves. The
// caller holds the data directory's lock, so that no other server can be taken the socket from.
func ListenUnix(path string) (*Listener, error) {
	l, err := listenPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("listen on unix socket: %w", err)
	}
	return &Listener{Listener: l}, nil
}

// ListenTCP listens on a TCP address for whoever has the token. An address that is not loopback is ErrExposed, and no token an
// error, unless insecure says that this is meant.
func ListenTCP(addr, token string, insecure bool) (*Listener, error) {
	if !insecure && token == "" {
		return nil, fmt.Errorf("listen on %s: a token is needed", addr)
	}
	return listenTCP(addr, token, !insecure)
}

// ListenOpen listens on a loopback address for whoever is on this machine, with no credential; a page of a browser is not. An
// address that is not loopback is ErrExposed.
func ListenOpen(addr string) (*Listener, error) { return listenTCP(addr, "", true) }

func listenTCP(addr, token string, local bool) (*Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	if local && !loopback(host) {
		return nil, fmt.Errorf("listen on %s: %w", addr, ErrExposed)
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	if at := l.Addr().(*net.TCPAddr); local && !at.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", addr, ErrExposed), l.Close())
	}
	ln := &Listener{Listener: l, Token: token}
	if local {
		ln.hosts = map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true, host: true}
	}
	return ln, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
