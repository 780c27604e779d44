package server

import (
	"net"
	"os"
	"strings"
)

// hosts are the names that a listener accepts in the Host header, so that no name of a foreign
// domain that resolves to this machine (DNS rebinding) gets an answer. The zero value accepts any.
type hosts struct {
	names     map[string]bool
	addresses bool // accept every IP address: a page loaded from one has no foreign name
}

// newHosts returns the names of a TCP listener on a host: the names of loopback, and for a listener
// that other machines reach also this machine's name and every IP address.
func newHosts(host string, public bool) hosts {
	h := hosts{names: map[string]bool{}, addresses: public}
	h.add("localhost", "127.0.0.1", "::1", host)
	if public {
		if name, err := os.Hostname(); err == nil {
			h.add(name)
		}
	}
	return h
}

func (h *hosts) add(names ...string) {
	for _, name := range names {
		if name != "" {
			h.names[strings.ToLower(name)] = true
		}
	}
}

// errHost refuses a request for a foreign name.
const errHost = "this server does not serve that host: its owner allows names with agentctl serve --host NAME"

// allow reports whether a Host header, with or without a port, names the listener.
func (h *hosts) allow(host string) bool {
	if h.names == nil {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return h.names[host] || h.addresses && net.ParseIP(host) != nil
}
