package connection

import (
	"context"

	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/server/agent/process"
)

// RequireUser returns an error with the code forbidden if an agent runs the verb. The server of the
// data directory knows the processes of its agents. If none answers, the environment decides: an
// agent that removes AGENTCTL_SESSION from it is not recognized. does completes "an agent may not".
func RequireUser(ctx context.Context, cli *verb.Context, does string) error {
	own := *cli
	own.Flags.Server, own.Flags.Dialect, own.Flags.NoStart = "", "", true
	agent := cli.Env(process.SessionVariable) != ""
	if c, err := Open(ctx, &own); err == nil {
		agent = c.Hello().Role == protocol.RoleAgent
		c.Close()
	}
	if agent {
		return protocol.Errorf(protocol.CodeForbidden, "an agent may not %s: a user does", does)
	}
	return nil
}
