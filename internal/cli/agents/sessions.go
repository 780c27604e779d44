package agents

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
)

type agentSessionsOptions struct {
	verb.Options

	Agent string
	CWD   string
}

var agentsSessionsVerb = verb.Verb{
	Use:   "sessions AGENT",
	Short: "List the sessions that an agent has stored",
	Long: `List the sessions that an agent of this machine and user has stored itself, including sessions of its
own program. "agentctl new --load ID" continues one; pass its directory with --cwd. AGENT is one
of "agentctl agents", or an ad hoc command ("acp:COMMAND ARG…"). The agent is started for the list. Exits
10 if it has none.`,
	Example: "  agentctl agents sessions claude --cwd .\n" +
		"  agentctl new --agent claude --load 0190a2b4-0c1d-7e2f",

	Trial:    "nonsense",
	Complete: completeRegistry,

	Do: &verb.Steps[agentSessionsOptions]{
		Flags: func(o *agentSessionsOptions, cmd *cobra.Command) {
			cmd.Flags().StringVar(&o.CWD, "cwd", "", "only sessions of the directory `DIR`")
			verb.CompleteDirs(cmd, "cwd")
		},
		Read: func(o *agentSessionsOptions, args []string) error { o.Agent = args[0]; return nil },
		Run:  runAgentSessions,
	},
}

// completeRegistry completes the name of an agent of this user's server.
func completeRegistry(cli *verb.Context) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 || cli.ReadEnvironment() != nil {
			return nil, verb.NoFiles
		}
		registry, err := localagent.Of(cli).Registry()
		if err != nil {
			return nil, verb.NoFiles
		}
		return registry.Names(), verb.NoFiles
	}
}

// storedSession is a row of the list as JSON.
type storedSession struct {
	ID      string `json:"id"`
	CWD     string `json:"cwd"`
	Title   string `json:"title,omitempty"`
	Updated string `json:"updated,omitempty"`
}

func runAgentSessions(ctx context.Context, o *agentSessionsOptions) error {
	_, config, err := localAgent(o.CLI, o.Agent, "sessions")
	if err != nil {
		return err
	}
	config.StartTimeout = localagent.ProbeTimeout
	start, err := filepath.Abs(o.CWD) // "" is the current directory
	if err != nil {
		return fmt.Errorf("directory of the agent: %w", err)
	}
	list, err := acp.StoredSessions(ctx, config, agent.Spec{CWD: start}, o.CWD)
	if err != nil {
		return err
	}
	if o.CLI.Out.JSON {
		for _, s := range list {
			if err := o.CLI.Out.Print(storedSession(s), nil); err != nil {
				return err
			}
		}
		return nil
	}
	writeStoredSessions(o.CLI.Out.Text(), list)
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
