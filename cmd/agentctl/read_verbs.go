package main

import (
	"slices"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
)

// readVerbs are the verbs that only read what a server has. They start none: without a server there
// is nothing that runs or waits, and a script that polls must not keep one alive.
var readVerbs = []string{
	"ls", "status", "approvals", "queue", "rules", "events", "history", "search", "export", "blob", "context",
	"options", "plan", "wait", "watch",
}

// startsNoServer makes a verb that only reads start no server, unless --no-start=false is passed.
func (a *app) startsNoServer(cmd *cobra.Command) {
	if f := cmd.Flags().Lookup("no-start"); slices.Contains(readVerbs, verbPath(cmd)) && !f.Changed {
		a.flags.NoStart, a.flags.OnlyReads = true, true
	}
}

// withStartHint says how to start a server to a verb that starts none.
func (a *app) withStartHint(err error) error {
	if !a.flags.OnlyReads || exit.From(err).Status != exit.Unreachable {
		return err
	}
	return exit.From(err).WithHint("stored sessions are kept; agentctl attach, new and send start a server, " +
		"or pass --no-start=false")
}
