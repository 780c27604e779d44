package main

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"

	"agentctl/internal/config"
	"agentctl/internal/credentials"
	"agentctl/internal/ssh"
	"agentctl/tui/remote"
	"agentctl/tui/serverset"
	"agentctl/wsclient"
)

// withNamedServers returns home together with the servers that the user's configuration names, and
// a function that closes their connections. It opens none: the dashboard does. Connections through
// ssh never ask.
//
// A server that flags or environment select is shown alone.
func (a *app) withNamedServers(home remote.Server) (_ remote.Server, closeAll func()) {
	named := a.userConfig.Servers
	if len(named) == 0 || a.serverNamed || a.flags.Dialect != "" {
		return home, func() {}
	}
	var clients []*wsclient.Client
	var others []serverset.Member
	for _, name := range slices.Sorted(maps.Keys(named)) {
		s := named[name]
		if s.Dialect != "" || s.URL == a.flags.Server { // a dialect has no dashboard; home is there once
			continue
		}
		client := wsclient.New(s.URL, a.namedOptions(s))
		clients = append(clients, client)
		others = append(others, serverset.Member{Name: name, Server: serverAdapter{client: client}})
	}
	if len(others) == 0 {
		return home, func() {}
	}
	closeAll = func() {
		for _, c := range clients {
			_ = c.Close() // never fails
		}
	}
	return serverset.New(serverset.Member{Name: a.homeName(), Server: home}, others...), closeAll
}

// homeName returns the name of the server that verbs use without --on.
func (a *app) homeName() string {
	for name, s := range a.userConfig.Servers {
		if s.URL == a.flags.Server {
			return name
		}
	}
	if a.flags.Server == "" {
		return config.LocalName
	}
	return config.HomeName
}

// namedOptions returns the options of a client of a named server. Its certificate must be known
// already, or be one that the system trusts.
func (a *app) namedOptions(s config.NamedServer) wsclient.Options {
	o := wsclient.Options{Name: a.userName(), UserAgent: "agentctl " + programVersion()}
	if strings.HasPrefix(s.URL, ssh.Scheme) {
		o.Dial = func(ctx context.Context) (net.Conn, error) {
			d, err := a.sshDialer(s)
			if err != nil {
				return nil, err
			}
			return d.Dial(ctx, false)
		}
		return o
	}
	if dir, err := a.dataDir(); err == nil {
		o.Token = credentials.NewStore(dir).TokenFor(s.URL)
		o.TLS = knownTrust(dir, s.URL)
	}
	return o
}
