package main

import (
	"github.com/spf13/cobra"
)

func newState(a *app) *cobra.Command {
	return groupCommand(&cobra.Command{
		Use:   "state",
		Short: "Export and restore sessions",
		Long: "Export a session as one line of JSON that its server signs, and restore it as a new session " +
			"on that server.",
		Example: "  agentctl state export fix >fix.state\n  agentctl state restore fix.state --name fix-again",
	}, newStateExport(a, runStateExport), newStateRestore(a, runStateRestore))
}
