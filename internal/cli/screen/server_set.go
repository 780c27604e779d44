package screen

import (
	"maps"
	"slices"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/tui/remote"
	"agentctl/tui/serverset"
	"agentctl/wsclient"
)

// WithNamedServers returns home together with the servers that the user's configuration names, and
// a function that closes their connections. It opens none: the dashboard does. Connections through
// ssh never ask.
//
// A server that flags or environment select is shown alone.
func WithNamedServers(cli *verb.Context, home remote.Server) (_ remote.Server, closeAll func()) {
	named := cli.User.Servers
	if len(named) == 0 || cli.Selected.Explicit || cli.Flags.Dialect != "" {
		return home, func() {}
	}
	var clients []*wsclient.Client
	var others []serverset.Member
	for _, name := range slices.Sorted(maps.Keys(named)) {
		s := named[name]
		if s.Dialect != "" || s.URL == cli.Flags.Server { // a dialect has no dashboard; home is there once
			continue
		}
		client := wsclient.New(s.URL, connection.NamedOptions(cli, s))
		clients = append(clients, client)
		others = append(others, serverset.Member{Name: name, Server: Server{Client: client}})
	}
	if len(others) == 0 {
		return home, func() {}
	}
	closeAll = func() {
		for _, c := range clients {
			_ = c.Close() // never fails
		}
	}
	return serverset.New(serverset.Member{Name: cli.HomeName(), Server: home}, others...), closeAll
}
