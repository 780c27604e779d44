package sessions

import (
	"github.com/spf13/cobra"

	"agentctl/internal/cli/verb"
)

var stateVerb = verb.Verb{
	Name: "state", Group: verb.GroupSession,
	Build: func(cli *verb.Context) *cobra.Command { return newState(cli) },
	Below: append(calls.Below("state"), &stateRestoreVerb, &stateKeyVerb),
}

func newState(*verb.Context) *cobra.Command {
	return &cobra.Command{
		Use:   "state",
		Short: "Export and restore sessions",
		Long: `Export a session as one line of JSON that its server signs, and restore it as a new session on
that server, on one with the same "state_secret" in its configuration, or on one with the server's
public key in its "state_keys" (agentctl serve --help).`,
		Example: "  agentctl state export fix >fix.state\n  agentctl state restore fix.state --name fix-again",
	}
}
