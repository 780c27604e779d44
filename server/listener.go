package server

import (
	"context"
	"errors"
	"fmt"
	"net"

	"agentctl/protocol"
	"agentctl/server/agent/process"
)

// A Listener accepts connections with its access rules.
type Listener struct {
	net.Listener

	// Token is required as a bearer credential or in ?token=. Empty: everyone who reaches the
	// listener has access.
	Token string

	// Role limits the commands of clients; empty: all commands. Users who log in have their own
	// roles.
	Role protocol.Role

	// Origins are the web origins that may connect ("https://host:port"). Pages of other origins
	// are refused.
	Origins []string

	// Dialect is the only protocol of the listener, at any path. Empty: the native protocol and all
	// dialects.
	Dialect string

	// Ancestry returns the process at the other end of a connection and its ancestors, to recognize
	// agents. Empty: unknown. nil: no process is looked up.
	Ancestry func(net.Conn) ([]process.Ancestor, error)

	owner bool            // who reaches the listener is the server's owner, or an agent
	hosts map[string]bool // allowed in the Host header; nil: any
}

// ErrExposed is the error for an address that other machines could reach.
var ErrExposed = errors.New("other machines could reach this address: it needs authentication and TLS, or --insecure")

// ListenUnix listens on a Unix socket with mode 0600. It replaces an existing socket file: the
// caller must hold the lock of the data directory, so that no other server uses it.
func ListenUnix(path string) (*Listener, error) {
	l, err := listenPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("listen on unix socket: %w", err)
	}
	return &Listener{Listener: l, Ancestry: unixAncestry, owner: true}, nil
}

func unixAncestry(c net.Conn) ([]process.Ancestor, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, fmt.Errorf("identify peer: %T is not a Unix socket", c)
	}
	return process.Peer(u)
}

// ListenTCP listens on a TCP address for clients with the token. Unless insecure is set, an address
// that is not loopback is ErrExposed and an empty token an error.
func ListenTCP(addr, token string, insecure bool) (*Listener, error) {
	if !insecure && token == "" {
		return nil, fmt.Errorf("listen on %s: a token is required", addr)
	}
	return listenTCP(addr, token, !insecure)
}

// ListenOpen listens on a loopback address for programs on this machine, without a credential.
// Browser pages are refused. An address that is not loopback is ErrExposed.
func ListenOpen(addr string) (*Listener, error) { return listenTCP(addr, "", true) }

// listenTCP listens on a TCP address; with local, only on loopback and for loopback Hosts.
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
