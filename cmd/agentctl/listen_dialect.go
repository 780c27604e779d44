package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/dialect"
	"agentctl/protocol"
	"agentctl/server"
)

// A dialectListener is what --listen-dialect asks for.
type dialectListener struct {
	Dialect string
	Addr    string
	Open    bool          // to whoever reaches it, without a token
	Role    protocol.Role // of whoever comes in; empty: everything
}

// parseDialectListener reads NAME=ADDR[,open][,role=R].
func parseDialectListener(s string) (d dialectListener, err error) {
	name, rest, ok := strings.Cut(s, "=")
	words := strings.Split(rest, ",")
	d.Dialect, d.Addr = name, words[0]
	if !ok || d.Addr == "" {
		return d, usagef("--listen-dialect is NAME=ADDR[,open][,role=R], not %q", s)
	}
	if err := checkDialect(name); err != nil {
		return d, err
	}
	for _, word := range words[1:] {
		role, isRole := strings.CutPrefix(word, "role=")
		switch {
		case word == "open":
			d.Open = true
		case isRole && slices.Contains(protocol.Roles, protocol.Role(role)):
			d.Role = protocol.Role(role)
		case isRole:
			return d, usagef("--listen-dialect %s: a role is one of %s, not %q", s, names(protocol.Roles), role)
		default:
			return d, usagef("--listen-dialect %s: after the address comes open or role=R, not %q", s, word)
		}
	}
	if d.Open && d.Role == "" {
		d.Role = protocol.RoleApprover // creates, sends, queues, interrupts, decides
	}
	return d, nil
}

func checkDialect(name string) error {
	if _, ok := dialect.Find(name); !ok {
		return usagef("%q is not a dialect: there are %s", name, strings.Join(dialect.Names(), ", "))
	}
	return nil
}

func names(roles []protocol.Role) string {
	all := make([]string, len(roles))
	for i, r := range roles {
		all[i] = string(r)
	}
	return strings.Join(all, ", ")
}

// listen opens the listener.
func (d *dialectListener) listen(token string, insecure bool) (*server.Listener, error) {
	open := func() (*server.Listener, error) { return server.ListenTCP(d.Addr, token, insecure) }
	if d.Open {
		open = func() (*server.Listener, error) { return server.ListenOpen(d.Addr) }
	}
	l, err := open()
	if errors.Is(err, server.ErrExposed) {
		return nil, usagef("--listen-dialect %s: %w", d.Dialect, err)
	}
	if err != nil {
		return nil, fmt.Errorf("dialect %s: %w", d.Dialect, err)
	}
	l.Dialect, l.Role = d.Dialect, d.Role
	return l, nil
}

// openDialects opens the dialects' listeners and returns their URLs by name, and those that want the token.
func (o *serveOptions) openDialects(i *instance, token string) (all map[string][]string, closed []string, _ error) {
	all = map[string][]string{}
	for _, d := range o.dialects {
		l, err := d.listen(token, o.Insecure)
		if err != nil {
			return nil, nil, err
		}
		i.listeners = append(i.listeners, l)
		url := "ws://" + l.Addr().String()
		all[d.Dialect] = append(all[d.Dialect], url)
		if !d.Open {
			closed = append(closed, url)
			continue
		}
		o.app.note("warning: %s lets every program on this machine use sessions (%s, as %s) without a token", url, d.Dialect, d.Role)
	}
	return all, closed, nil
}
