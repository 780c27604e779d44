package verb

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/config"
	"agentctl/internal/exit"
)

// selectServer selects the server that --on names.
func (cli *Context) selectServer(name string) error {
	g := &cli.Flags
	switch {
	case cli.Selected.Data && name != config.LocalName:
		return exit.Usagef("--on and --data name two servers: pass one")
	case cli.UserErr != nil:
		return cli.UserErr
	case name == config.LocalName:
		g.Server, g.Dialect = "", ""
		return nil
	}
	s, ok := cli.User.Servers[name]
	if !ok {
		return exit.Usagef("no server %q in the configuration", name).WithHint("%s", serversHint(&cli.User))
	}
	g.Server, cli.Selected.Server = s.URL, s
	if s.Dialect != "" {
		g.Dialect = s.Dialect
	}
	return nil
}

// serversHint says which servers --on can name.
func serversHint(u *config.User) string {
	if len(u.Servers) == 0 {
		return `name one in the configuration: "servers": {"box": {"url": "ssh://box"}}`
	}
	return "it names " + strings.Join(serverNames(u), ", ")
}

// serverNames returns what --on can name.
func serverNames(u *config.User) []string {
	return append([]string{config.LocalName}, slices.Sorted(maps.Keys(u.Servers))...)
}

// completeServers completes the value of --on.
func (cli *Context) completeServers(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	cli.User, _ = config.ReadUser(cli.Env)
	return serverNames(&cli.User), NoFiles
}

// HomeName returns the name of the server that verbs use without --on.
func (cli *Context) HomeName() string {
	for name, s := range cli.User.Servers {
		if s.URL == cli.Flags.Server {
			return name
		}
	}
	if cli.Flags.Server == "" {
		return config.LocalName
	}
	return config.HomeName
}
