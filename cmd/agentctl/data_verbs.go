package main

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/internal/config"
	"agentctl/internal/exit"
)

// dataVerbs are the verbs that work on the data directory of this machine, by path. No connection
// carries them.
var dataVerbs = []string{
	"serve", "stop", "logs", "connect", "backup", "restore", "check", "repair", "token list", "token revoke",
	"token user", "token key", "token key add", "token key rm", "token key rotate", "state key",
}

// hereVerbs are those of dataVerbs that can only mean this machine: they are run by a user, a unit
// or ssh where the server is to be. A default server does not stop them.
var hereVerbs = []string{"serve", "connect"}

// checkDataVerb returns an error if flags, environment or configuration name another server for one
// of dataVerbs: it would act on this machine instead. --data and --on local mean this machine.
func (a *app) checkDataVerb(cmd *cobra.Command) error {
	verb, flags := verbPath(cmd), cmd.Flags()
	if !slices.Contains(dataVerbs, verb) {
		return nil
	}
	if flags.Changed("server") || flags.Changed("on") && a.flags.On != config.LocalName {
		return exit.Usagef("agentctl %s works on the data directory of this machine, not through a server", verb).
			WithHint("run agentctl %s on the server's machine, or without --server and --on here", verb)
	}
	if a.dataFlag || slices.Contains(hereVerbs, verb) || a.ownServer(a.flags.Server) {
		return nil
	}
	source := "AGENTCTL_SERVER"
	if a.env(source) == "" {
		source = "the configuration"
	}
	return exit.Usagef("agentctl %s works on the data directory of this machine, but %s names another server",
		verb, source).
		WithHint("run agentctl %[1]s on the server's machine, or agentctl --on local %[1]s here", verb)
}

// ownServer reports whether a URL is that of the server of this user's data directory. "" is.
func (a *app) ownServer(url string) bool {
	if url == "" {
		return true
	}
	dir, err := a.dataDir()
	return err == nil && (url == dir.SocketURL() || dir.TokenFor(url) != "")
}
