package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/agents"
	"agentctl/internal/config"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/acp"
)

// probeTimeout bounds the start of one agent for a check.
const probeTimeout = 30 * time.Second

type agentsOptions struct {
	app *app

	Check bool

	lookPath func(program string) (string, error)
}

func newAgents(
	a *app, run func(context.Context, *agentsOptions) error, login func(context.Context, *agentLoginOptions) error,
	sessions func(context.Context, *agentSessionsOptions) error,
) *cobra.Command {
	o := &agentsOptions{app: a, lookPath: exec.LookPath}
	cmd := &cobra.Command{
		Use:   "agents",
		Short: "List the agents of the server",
		Long: `List the agents that the server can run by name: configured agents and presets. See
"agentctl new --help" for ad hoc commands.

On your own server the list tells whether an agent is installed, its version, whether a key or a
stored login was found, how to get what is missing, and what the agent allows without asking you.
Below are the providers of models, with or without a key, and the configured MCP servers.
--check starts each installed agent to see whether its login works, and connects to each MCP
server.`,
		Example: "  agentctl agents\n  agentctl agents --check -o json\n  agentctl agents login claude",
		Args:    rangeArgs(0, 0),
		RunE:    runE(a, o, nil, run),
	}
	cmd.Flags().BoolVar(&o.Check, "check", false, "start each installed agent, connect to MCP servers")
	cmd.AddCommand(newAgentLogin(a, login), newAgentSessions(a, sessions))
	return cmd
}

func runAgents(ctx context.Context, o *agentsOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if !c.own {
		return o.printNames(c.Hello().Agents)
	}
	registry, err := o.app.registry()
	if err != nil {
		return err
	}
	inspector := o.app.inspector(registry, o.lookPath)
	var list []agents.Installation
	for _, name := range c.Hello().Agents {
		r := inspector.Inspect(name)
		if o.Check && r.Installed && r.Script == "" && r.Model == "" && r.Pipeline == "" {
			o.app.probe(ctx, registry, &r)
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
		if err := o.app.print(v, func(w io.Writer) { fmt.Fprintln(w, output.OneLine(name, 0)) }); err != nil {
			return err
		}
	}
	return nil
}

func (o *agentsOptions) print(list []agents.Installation, used []service) error {
	if o.app.json() {
		for _, r := range list {
			if err := o.app.print(r, nil); err != nil {
				return err
			}
		}
		for _, s := range used {
			if err := o.app.print(s, nil); err != nil {
				return err
			}
		}
		return nil
	}
	t := tabwriter.NewWriter(o.app.text(), 0, 0, 2, ' ', 0)
	for _, r := range list {
		fmt.Fprintf(t, "%s\t%s\t%s\n", output.OneLine(r.Agent, 0), installedText(&r), loginText(&r))
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
	case r.Version == "":
		return "installed"
	}
	return output.OneLine(r.Version, 40)
}

// loginText describes the login of an agent, or how to install it.
func loginText(r *agents.Installation) string {
	how := "log in: agentctl agents login " + output.OneLine(r.Agent, 0)
	switch {
	case r.Script != "":
		return output.OneLine(r.Script, 0)
	case !r.Installed && r.Install == "":
		return output.OneLine(r.Program, 0) + " not found"
	case r.Model != "" && r.Login == agents.LoginMissing:
		return "no key: " + output.OneLine(strings.TrimPrefix(r.LogIn, "no key of a model provider: "), 0)
	case r.Pipeline != "" && r.Login == agents.LoginMissing:
		return "no login found: " + output.OneLine(r.LogIn, 0)
	case r.Pipeline != "":
		return "of " + output.OneLine(r.Pipeline, 0)
	case r.Model != "":
		return "key: " + output.OneLine(r.LoginBy, 0)
	}
	switch r.Login {
	case agents.LoginReady:
		return "starts without asking for a login"
	case agents.LoginFound:
		return "login found: " + r.LoginBy
	case agents.LoginMissing:
		return "no login found: " + how
	case agents.LoginUnknown:
		return "login unknown: see agentctl agents --check; " + how
	case "":
		return r.Install
	}
	return output.OneLine(r.Login, 120)
}

// inspector looks at the agents of this machine.
func (a *app) inspector(r *agents.Registry, lookPath func(string) (string, error)) *agents.Inspector {
	return &agents.Inspector{Registry: r, LookPath: lookPath, Env: a.env, Home: a.env("HOME")}
}

// registry returns the agents of this user's server: those of its configuration, if it has one, and
// the presets.
func (a *app) registry() (*agents.Registry, error) {
	dir, err := a.dataDir()
	if err != nil {
		return nil, err
	}
	registry := &agents.Registry{}
	if path := a.configPath(dir); path != "" {
		c, err := config.ReadServer(path)
		if err != nil {
			return nil, err
		}
		registry = c.Registry()
	}
	registry.Default = cmp.Or(dir.DefaultAgent(), registry.Default)
	return registry, nil
}

// localAgent returns the registry, and how to run an agent of this machine, for the named verb
// below "agentctl agents".
func (a *app) localAgent(agent, verb string) (*agents.Registry, acp.Config, error) {
	if a.flags.Server != "" {
		err := exit.Usagef("this is about the machine of the server: run agentctl agents %s there", verb)
		return nil, acp.Config{}, err
	}
	registry, err := a.registry()
	if err != nil {
		return nil, acp.Config{}, err
	}
	config, err := registry.Find(agent)
	return registry, config, err
}

// probe starts an agent and sets what it tells.
func (a *app) probe(ctx context.Context, registry *agents.Registry, r *agents.Installation) {
	p, err := a.startProbe(ctx, registry, r.Agent)
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
func (a *app) startProbe(ctx context.Context, r *agents.Registry, name string) (p acp.Probed, err error) {
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
	config.StartTimeout = probeTimeout
	return acp.Probe(ctx, config, agent.Spec{CWD: dir})
}

// writeMethods lists the ways to log in that an agent offers.
func writeMethods(w io.Writer, methods []acp.LoginMethod) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, m := range methods {
		fmt.Fprintf(t, "%s\t%s\n", output.OneLine(m.Name, 60), output.OneLine(m.Description, 0))
	}
	_ = t.Flush() // w keeps its error
}
