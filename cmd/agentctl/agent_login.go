package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/server/agent/acp"
)

type agentLoginOptions struct {
	app *app

	Agent string
}

func newAgentLogin(a *app, run func(context.Context, *agentLoginOptions) error) *cobra.Command {
	o := &agentLoginOptions{app: a}
	return &cobra.Command{
		Use:   "login AGENT",
		Short: "Log in to an agent",
		Long: `Run the agent's own login in this terminal, for the agents of this machine and user. An agent
without such a command is started, and the ways to log in that it offers are listed. AGENT is one
of "agentctl agents", or an ad hoc command ("acp:COMMAND ARG…").`,
		Example:           "  agentctl agents login claude",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeRegistry,
		RunE:              runE(a, o, func(args []string) error { o.Agent = args[0]; return nil }, run),
	}
}

func runAgentLogin(ctx context.Context, o *agentLoginOptions) error {
	registry, config, err := o.app.localAgent(o.Agent, "login")
	if registry != nil && o.app.isModel(o.Agent, true) {
		return o.modelLogin(registry)
	}
	if err != nil {
		return err
	}
	p, ok := registry.FindPreset(o.Agent)
	if ok && p.LoginCommand != nil && !o.app.json() {
		return o.runCommand(ctx, &p, config)
	}
	probed, err := o.app.startProbe(ctx, registry, o.Agent)
	if err != nil && protocol.CodeOf(err) != protocol.CodeAgentAuth {
		return err
	}
	result := struct {
		Agent    string            `json:"agent"`
		Version  string            `json:"version,omitempty"`
		LoggedIn bool              `json:"logged_in"`
		Command  []string          `json:"command,omitempty"`
		Methods  []acp.LoginMethod `json:"methods"`
	}{o.Agent, probed.Version, err == nil, p.LoginCommand, nonNil(probed.Methods)}
	return o.app.print(result, func(w io.Writer) {
		if result.LoggedIn {
			fmt.Fprintln(w, "no login is needed")
			return
		}
		writeMethods(w, probed.Methods)
	})
}

// runCommand runs the login of a preset in this terminal, with the program and the environment of
// the agent's configuration.
func (o *agentLoginOptions) runCommand(ctx context.Context, p *acp.Preset, config acp.Config) error {
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
	o.app.notef("running: %s", line)
	cmd := exec.CommandContext(ctx, path, p.LoginCommand[1:]...)
	cmd.Env = os.Environ()
	for name, value := range config.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.app.stdin, o.app.stdout, o.app.stderr
	err = cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) && ctx.Err() == nil {
		return exit.Errorf(exit.Failure, protocol.CodeAgentFailed, "%s ended with %w", line, failed)
	}
	return err
}
