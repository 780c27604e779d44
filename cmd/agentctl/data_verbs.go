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
	"token user", "token key add", "token key rm", "token key rotate", "state key",
}

// checkDataVerb returns an error if flags name a server for one of dataVerbs: it would act on this
// machine instead. A server of the environment or the configuration is that of the other verbs.
func (a *app) checkDataVerb(cmd *cobra.Command) error {
	verb, flags := verbPath(cmd), cmd.Flags()
	if !slices.Contains(dataVerbs, verb) ||
		!flags.Changed("server") && (!flags.Changed("on") || a.flags.On == config.LocalName) {
		return nil
	}
	return exit.Usagef("agentctl %s works on the data directory of this machine, not through a server", verb).
		WithHint("run agentctl %s on the server's machine, or without --server and --on here", verb)
}
