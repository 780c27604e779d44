package serve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/internal/cli/verb"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server"
)

// A dialectListen is a value of --listen-dialect.
type dialectListen struct {
	Dialect string
	Addr    string
	Open    bool          // no token required
	Role    protocol.Role // of its clients; empty: the role of their credential
}

// parseDialectListen parses NAME=ADDR[,open][,role=R].
func parseDialectListen(s string) (d dialectListen, err error) {
	name, rest, ok := strings.Cut(s, "=")
	fields := strings.Split(rest, ",")
	d.Dialect, d.Addr = name, fields[0]
	if !ok || d.Addr == "" {
		return d, exit.Usagef("invalid --listen-dialect %q: want NAME=ADDR[,open][,role=R]", s)
	}
	if err := config.CheckDialect(name); err != nil {
		return d, err
	}
	for _, field := range fields[1:] {
		role, isRole := strings.CutPrefix(field, "role=")
		switch {
		case field == "open":
			d.Open = true
		case isRole && slices.Contains(protocol.Roles, protocol.Role(role)):
			d.Role = protocol.Role(role)
		case isRole:
			return d, exit.Usagef("--listen-dialect %s: invalid role %q: want %s", s, role,
				strings.Join(verb.RoleNames(protocol.Roles), ", "))
		default:
			return d, exit.Usagef("--listen-dialect %s: invalid option %q: want open or role=R", s, field)
		}
	}
	if d.Open && d.Role == "" {
		d.Role = protocol.RoleApprover // may create, send, queue, interrupt and approve
	}
	return d, nil
}

func (d *dialectListen) listen(rules server.TCPOptions) (*server.Listener, error) {
	open := func() (*server.Listener, error) { return server.ListenTCP(d.Addr, rules) }
	if d.Open {
		open = func() (*server.Listener, error) { return server.ListenOpen(d.Addr) }
	}
	l, err := open()
	if errors.Is(err, server.ErrExposed) {
		return nil, exit.Usagef("--listen-dialect %s: %w", d.Dialect, err)
	}
	if err != nil {
		return nil, fmt.Errorf("dialect %s: %w", d.Dialect, err)
	}
	l.Dialect, l.Role = d.Dialect, d.Role
	return l, nil
}
