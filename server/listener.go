package server

import (
	"context"
	"crypto/tls"
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
	Origins *Origins

	// Dialect is the only protocol of the listener, at any path. Empty: the native protocol and all
	// dialects.
	Dialect string

	// Ancestry returns the process at the other end of a connection and its ancestors, to recognize
	// agents. Empty: unknown. nil: no process is looked up.
	Ancestry func(net.Conn) ([]process.Ancestor, error)

	tls   *tls.Config // nil: no TLS
	owner bool        // every client is the server's owner, or an agent
	agent string      // the session whose agent every client is; empty: Ancestry shows it
	hosts hosts       // allowed in the Host header
}

// ErrExposed is the error for an address that other machines could reach.
var ErrExposed = errors.New("other machines could reach this address: it needs --tls, or --insecure")

// ListenUnix listens on a Unix socket with mode 0600. It replaces an existing socket file: the
// caller must hold the lock of the data directory, so that no other server uses it.
func ListenUnix(path string) (*Listener, error) {
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf(
			"listen on unix socket: %s: clients connect to a path of at most %d bytes", path, maxSocketPath,
		)
	}
	return listenUnix(path)
}

// listenUnix is ListenUnix for clients that find the socket at another path, too.
func listenUnix(path string) (*Listener, error) {
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

// TCPOptions are the access rules of a TCP listener.
type TCPOptions struct {
	Token    string      // required
	TLS      *tls.Config // nil: no TLS
	Insecure bool        // allow an address of other machines without TLS
	Hosts    []string    // names of the listener in the Host header, in addition to its own
}

// ListenTCP listens on a TCP address for clients with the token. An address that is not loopback is
// ErrExposed without TLS, unless Insecure is set.
func ListenTCP(addr string, o TCPOptions) (*Listener, error) {
	if o.Token == "" {
		return nil, fmt.Errorf("listen on %s: a token is required", addr)
	}
	l, err := listenTCP(addr, o.TLS == nil && !o.Insecure)
	if err != nil {
		return nil, err
	}
	l.Token = o.Token
	l.tls = o.TLS
	l.hosts.add(o.Hosts...)
	return l, nil
}

// ListenOpen listens on a loopback address for programs on this machine, without a credential.
// Browser pages are refused. An address that is not loopback is ErrExposed.
func ListenOpen(addr string) (*Listener, error) { return listenTCP(addr, true) }

// listenTCP listens on a TCP address; with local, only on loopback.
func listenTCP(addr string, local bool) (*Listener, error) {
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
	public := !l.Addr().(*net.TCPAddr).IP.IsLoopback()
	if local && public {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", addr, ErrExposed), l.Close())
	}
	return &Listener{Listener: l, hosts: newHosts(host, public)}, nil
}

// URL returns the URL of a TCP listener.
func (l *Listener) URL() string {
	scheme := "ws://"
	if l.tls != nil {
		scheme = "wss://"
	}
	return scheme + l.Addr().String()
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
