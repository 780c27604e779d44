package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"agentctl/internal/output"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
)

type agentSessionsOptions struct {
	app *app

	Agent string
	CWD   string
}

func newAgentSessions(a *app, run func(context.Context, *agentSessionsOptions) error) *cobra.Command {
	o := &agentSessionsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "sessions AGENT",
		Short: "List the sessions that an agent has stored",
		Long: `List the sessions that an agent of this machine and user has stored itself, also those of its own
program. "agentctl new --load ID" continues one; pass its directory with --cwd. AGENT is one of
"agentctl agents", or an ad hoc command ("acp:COMMAND ARG…"). The agent is started for the list. Exits
10 if it has none.`,
		Example: "  agentctl agents sessions claude --cwd .\n" +
			"  agentctl new --agent claude --load 0190a2b4-0c1d-7e2f",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeRegistry,
		RunE:              runE(a, o, func(args []string) error { o.Agent = args[0]; return nil }, run),
	}
	cmd.Flags().StringVar(&o.CWD, "cwd", "", "only sessions of the directory `DIR`")
	completeDirs(cmd, "cwd")
	return cmd
}

// completeRegistry completes the name of an agent of this user's server.
func (a *app) completeRegistry(
	_ *cobra.Command, args []string, _ string,
) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 || a.readEnvironment() != nil {
		return nil, noFiles
	}
	registry, err := a.registry()
	if err != nil {
		return nil, noFiles
	}
	return registry.Names(), noFiles
}

// storedSession is a row of the list as JSON.
type storedSession struct {
	ID      string `json:"id"`
	CWD     string `json:"cwd"`
	Title   string `json:"title,omitempty"`
	Updated string `json:"updated,omitempty"`
}

func runAgentSessions(ctx context.Context, o *agentSessionsOptions) error {
	_, config, err := o.app.localAgent(o.Agent, "sessions")
	if err != nil {
		return err
	}
	config.StartTimeout = probeTimeout
	start, err := filepath.Abs(o.CWD) // "" is the current directory
	if err != nil {
		return fmt.Errorf("directory of the agent: %w", err)
	}
	list, err := acp.StoredSessions(ctx, config, agent.Spec{CWD: start}, o.CWD)
	if err != nil {
		return err
	}
	if o.app.json() {
		for _, s := range list {
			if err := o.app.print(storedSession(s), nil); err != nil {
				return err
			}
		}
		return nil
	}
	writeStoredSessions(o.app.text(), list)
	return nil
}

func writeStoredSessions(w io.Writer, list []acp.StoredSession) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", output.OneLine(s.ID, 0), output.OneLine(s.Updated, 30),
			output.OneLine(s.CWD, 0), output.OneLine(s.Title, 60))
	}
	_ = t.Flush() // w keeps its error
}
