package agents

import (
	"context"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"agentctl/internal/agents"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
)

type agentsOptions struct {
	verb.Options

	Check bool
}

var agentsVerb = verb.Verb{
	Use:   "agents",
	Short: "List the agents of the server",
	Long: `List the agents that the server can run by name: configured agents and presets. On your own server
the list shows whether an agent is installed, its version, its key or login, and how to get what is
missing; then the providers of models and the MCP servers. --check starts each installed agent to
test its login, and connects to each MCP server.`,
	Example: "  agentctl agents\n  agentctl agents --check -o json\n  agentctl agents login claude",
	Group:   verb.GroupServer,
	Below:   []*verb.Verb{&agentsLoginVerb, &agentsSessionsVerb},
	Lacks: func(d *codec.Dialect) error {
		return codec.Unsupported(d.Name, "a list of agents", "its servers have no message for it")
	},

	Do: &verb.Steps[agentsOptions]{
		Flags: func(o *agentsOptions, cmd *cobra.Command) {
			cmd.Flags().BoolVar(&o.Check, "check", false, "start each installed agent, connect to MCP servers")
		},
		Run: runAgents,
	},
}

func runAgents(ctx context.Context, o *agentsOptions) error {
	c, err := connection.Open(ctx, o.CLI)
	if err != nil {
		return err
	}
	defer c.Close()
	if !c.Own {
		return o.printNames(c.Hello().Agents)
	}
	registry, err := localagent.Of(o.CLI).Registry()
	if err != nil {
		return err
	}
	inspector := localagent.Of(o.CLI).Inspector(registry)
	var list []agents.Installation
	for _, name := range c.Hello().Agents {
		r := inspector.Inspect(name)
		if o.Check && r.Installed && r.Script == "" && r.Model == "" && r.Pipeline == "" {
			probe(ctx, registry, &r)
		}
		list = append(list, r)
	}
	return o.print(list, services(ctx, inspector, o.Check))
}

// printNames writes the agents of another machine: nothing else is known of them.
func (o *agentsOptions) printNames(names []string) error {
	for _, name := range names {
		v := struct {
			Agent string `json:"agent"`
		}{name}
		if err := o.CLI.Out.Print(v, func(w io.Writer) { fmt.Fprintln(w, output.OneLine(name, 0)) }); err != nil {
			return err
		}
	}
	return nil
}

func (o *agentsOptions) print(list []agents.Installation, used []service) error {
	if o.CLI.Out.JSON {
		if err := output.PrintEach(o.CLI.Out, list, nil); err != nil {
			return err
		}
		return output.PrintEach(o.CLI.Out, used, nil)
	}
	t := tabwriter.NewWriter(o.CLI.Out.Text(), 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\n", output.OneLine(r.Agent, 0), installedText(&r), localagent.LoginText(&r))
		if r.Installed && r.Decides != "" {
			fmt.Fprintf(t, "\t\t%s\n", r.Decides)
		}
	}
	for _, s := range used {
		s.write(t)
	}
	return t.Flush()
}

func installedText(r *agents.Installation) string {
	switch {
	case !r.Installed:
		return "not installed"
	case r.Script != "":
		return "script"
	case r.Model != "":
		return output.OneLine(r.Model, 60)
	case r.Pipeline != "":
		return "pipeline"
	case r.URL != "":
		return "remote"
	case r.Version == "":
		return "installed"
	}
	return output.OneLine(r.Version, 40)
}

// localAgent returns the registry, and how to run an agent of this machine, for the named verb
// below "agentctl agents".
func localAgent(cli *verb.Context, agent, verb string) (*agents.Registry, acp.Config, error) {
	if cli.Flags.Server != "" {
		err := exit.Usagef("this is about the machine of the server: run agentctl agents %s there", verb)
		return nil, acp.Config{}, err
	}
	registry, err := localagent.Of(cli).Registry()
	if err != nil {
		return nil, acp.Config{}, err
	}
	config, err := registry.Find(agent)
	return registry, config, err
}

// probe starts an agent and sets what it reports.
func probe(ctx context.Context, registry *agents.Registry, r *agents.Installation) {
	p, err := startProbe(ctx, registry, r.Agent)
	if p.Version != "" {
		r.Version = p.Version
	}
	switch protocol.CodeOf(err) {
	case "":
		r.Login, r.LoginBy = agents.LoginReady, ""
	case protocol.CodeAgentAuth:
		r.Login, r.LoginBy = agents.LoginMissing, ""
	default:
		r.Login, r.LoginBy = err.Error(), ""
	}
}

// startProbe starts an agent in an empty directory, with the environment of this shell.
func startProbe(ctx context.Context, r *agents.Registry, name string) (p acp.Probed, err error) {
	config, err := r.Find(name)
	if err != nil {
		return p, err
	}
	dir, err := os.MkdirTemp("", "agentctl-agent-")
	if err != nil {
		return p, fmt.Errorf("directory of the agent: %w", err)
	}
	defer func() {
		if failed := os.RemoveAll(dir); failed != nil && err == nil {
			err = failed
		}
	}()
	config.StartTimeout = localagent.ProbeTimeout
	return acp.Probe(ctx, config, agent.Spec{CWD: dir})
}

// writeMethods lists the ways to log in that an agent offers.
func writeMethods(w io.Writer, methods []acp.LoginMethod) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range methods {
		run := ""
		if m.Terminal {
			run = "--method " + output.OneLine(m.ID, 60)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", output.OneLine(m.Name, 60), run, output.OneLine(m.Description, 0))
	}
	_ = t.Flush() // w keeps its error
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&agentsVerb}
