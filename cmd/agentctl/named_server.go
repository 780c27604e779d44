package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/config"
	"agentctl/internal/exit"
)

// selectServer selects the server that --on names.
func (a *app) selectServer(name string) error {
	g := &a.flags
	switch {
	case a.dataFlag && name != config.LocalName:
		return exit.Usagef("--on and --data name two servers: pass one")
	case a.userConfigErr != nil:
		return a.userConfigErr
	case name == config.LocalName:
		g.Server, g.Dialect = "", ""
		return nil
	}
	s, ok := a.userConfig.Servers[name]
	if !ok {
		return exit.Usagef("no server %q in the configuration", name).WithHint("%s", a.serversHint())
	}
	g.Server, a.server = s.URL, s
	if s.Dialect != "" {
		g.Dialect = s.Dialect
	}
	return nil
}

// serversHint says which servers --on can name.
func (a *app) serversHint() string {
	if len(a.userConfig.Servers) == 0 {
		return `name one in the configuration: "servers": {"box": {"url": "ssh://box"}}`
	}
	return "it names " + strings.Join(a.serverNames(), ", ")
}

// serverNames returns what --on can name.
func (a *app) serverNames() []string {
	return append([]string{config.LocalName}, slices.Sorted(maps.Keys(a.userConfig.Servers))...)
}

// completeServers completes the value of --on.
func (a *app) completeServers(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	a.userConfig, _ = config.ReadUser(a.env)
	return a.serverNames(), noFiles
}
