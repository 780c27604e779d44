package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"agentctl/internal/agents"
	"agentctl/internal/cli/localagent"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/server/agent/acp"
	"agentctl/server/agent/acp/catalog"
)

type agentLoginOptions struct {
	verb.Options

	Agent string
}

var agentsLoginVerb = verb.Verb{
	Use:   "login AGENT",
	Short: "Log in to an agent",
	Long: `Run the agent's own login in this terminal, for the agents of this machine and user. An agent
without such a command is started, and the ways to log in that it offers are listed. AGENT is one
of "agentctl agents", or an ad hoc command ("acp:COMMAND ARG…").`,
	Example: "  agentctl agents login claude",

	Trial:    "nonsense",
	Complete: completeRegistry,

	Do: &verb.Steps[agentLoginOptions]{
		Read: func(o *agentLoginOptions, args []string) error { o.Agent = args[0]; return nil },
		Run:  runAgentLogin,
	},
}

func runAgentLogin(ctx context.Context, o *agentLoginOptions) error {
	registry, config, err := localAgent(o.CLI, o.Agent, "login")
	if registry != nil && localagent.Of(o.CLI).IsModel(o.Agent, true) {
		return o.modelLogin(registry)
	}
	if err != nil {
		return err
	}
	p, ok := registry.FindPreset(o.Agent)
	if ok && p.LoginCommand != nil && !o.CLI.Out.JSON {
		return o.runCommand(ctx, &p, config)
	}
	probed, err := startProbe(ctx, registry, o.Agent)
	if err != nil && protocol.CodeOf(err) != protocol.CodeAgentAuth {
		return err
	}
	result := struct {
		Agent    string            `json:"agent"`
		Version  string            `json:"version,omitempty"`
		LoggedIn bool              `json:"logged_in"`
		Command  []string          `json:"command,omitempty"`
		Methods  []acp.LoginMethod `json:"methods"`
	}{o.Agent, probed.Version, err == nil, p.LoginCommand, output.NonNil(probed.Methods)}
	return o.CLI.Out.Print(result, func(w io.Writer) {
		if result.LoggedIn {
			fmt.Fprintln(w, "no login is needed")
			return
		}
		writeMethods(w, probed.Methods)
	})
}

// runCommand runs the login of a preset in this terminal, with the program and the environment of
// the agent's configuration.
func (o *agentLoginOptions) runCommand(ctx context.Context, p *catalog.Preset, config acp.Config) error {
	line := strings.Join(p.LoginCommand, " ")
	program := p.LoginCommand[0]
	if program == p.Command[0] {
		program = config.Command[0]
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return protocol.Errorf(protocol.CodeNoAgent, "%s not found: install it (%s), or %s",
			program, p.Install, p.Login)
	}
	o.CLI.Out.Notef("running: %s", line)
	cmd := exec.CommandContext(ctx, path, p.LoginCommand[1:]...)
	cmd.Env = os.Environ()
	for name, value := range config.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.CLI.Stdin, o.CLI.Out.Stdout, o.CLI.Out.Stderr
	err = cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) && ctx.Err() == nil {
		return exit.Errorf(exit.Failure, protocol.CodeAgentFailed, "%s ended with %w", line, failed)
	}
	return err
}

// modelLogin reports whether a model has its key. There is nothing to log in to.
func (o *agentLoginOptions) modelLogin(registry *agents.Registry) error {
	r := localagent.Of(o.CLI).Inspector(registry, exec.LookPath).Inspect(o.Agent)
	if r.Login == agents.LoginMissing {
		return exit.Unsupportedf("%s requests a model itself and has no login: %s", o.Agent, r.LogIn).
			WithHint("%s", localagent.KeyHint)
	}
	result := struct {
		Agent    string `json:"agent"`
		LoggedIn bool   `json:"logged_in"`
		Key      string `json:"key"`
	}{o.Agent, true, r.LoginBy}
	return o.CLI.Out.Print(result, func(w io.Writer) { fmt.Fprintf(w, "no login is needed: key: %s\n", r.LoginBy) })
}
