package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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

	Agent  string
	Method string
}

var agentsLoginVerb = verb.Verb{
	Use:   "login AGENT",
	Short: "Log in to an agent",
	Long: `Run the agent's own login in this terminal, for the agents of this machine and user. An agent
without such a command is started: its only login in a terminal is run, and otherwise the ways to log
in that it offers are listed. --method runs one of those in a terminal. AGENT is one of "agentctl
agents", or an ad hoc command ("acp:COMMAND ARG…").`,
	Example: "  agentctl agents login claude\n  agentctl agents login claude --method console-login",

	Trial:    "nonsense",
	Complete: completeRegistry,

	Do: &verb.Steps[agentLoginOptions]{
		Read: func(o *agentLoginOptions, args []string) error { o.Agent = args[0]; return nil },
		Run:  runAgentLogin,
		Flags: func(o *agentLoginOptions, cmd *cobra.Command) {
			cmd.Flags().StringVar(&o.Method, "method", "", "run the login `ID` that the agent offers in a terminal")
			verb.RequireValues(cmd.Flags(), "method")
		},
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
	if ok && p.LoginCommand != nil && o.Method == "" && !o.CLI.Out.JSON {
		return o.runCommand(ctx, registry, &p, config)
	}
	probed, err := startProbe(ctx, registry, o.Agent)
	if err != nil && protocol.CodeOf(err) != protocol.CodeAgentAuth {
		return err
	}
	if m, err := o.terminalMethod(probed.Methods); err != nil || m != nil && !o.CLI.Out.JSON {
		if err != nil {
			return err
		}
		return o.runMethod(ctx, m, config)
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

// terminalMethod returns the method to run: the one of --method, or the only one that runs in a
// terminal; nil: none, or several.
func (o *agentLoginOptions) terminalMethod(methods []acp.LoginMethod) (*acp.LoginMethod, error) {
	var found []*acp.LoginMethod
	var ids []string
	for i := range methods {
		m := &methods[i]
		if !m.Terminal {
			continue
		}
		ids = append(ids, m.ID)
		if o.Method == "" || o.Method == m.ID {
			found = append(found, m)
		}
	}
	switch {
	case o.Method != "" && len(found) == 0:
		return nil, protocol.Errorf(protocol.CodeNotFound, "%s has no login %q in a terminal; it has %q", o.Agent, o.Method, ids)
	case len(found) == 1:
		return found[0], nil
	}
	return nil, nil
}

// runCommand runs the login of a preset. Without its program it runs the one that the agent offers in
// a terminal, if any.
func (o *agentLoginOptions) runCommand(
	ctx context.Context, registry *agents.Registry, p *catalog.Preset, config acp.Config,
) error {
	command := slices.Clone(p.LoginCommand)
	if command[0] == p.Command[0] {
		command[0] = config.Command[0]
	}
	path, err := exec.LookPath(command[0])
	if err == nil {
		return o.runLogin(ctx, strings.Join(p.LoginCommand, " "), append([]string{path}, command[1:]...), config.Env)
	}
	missing := protocol.Errorf(
		protocol.CodeNoAgent, "%s not found: install it (%s), or %s", command[0], p.Install, p.Login,
	)
	probed, err := startProbe(ctx, registry, o.Agent)
	if err != nil && protocol.CodeOf(err) != protocol.CodeAgentAuth {
		return missing
	}
	m, err := o.terminalMethod(probed.Methods)
	switch {
	case err != nil:
		return err
	case m != nil:
		return o.runMethod(ctx, m, config)
	}
	for i := range probed.Methods {
		if m := &probed.Methods[i]; m.Terminal {
			return exit.Errorf(exit.Failure, protocol.CodeNoAgent, "%w", missing).WithHint(
				"%s logs in itself: agentctl agents login %s --method %s", p.Title, o.Agent, m.ID)
		}
	}
	return missing
}

// runMethod runs the program of the agent with the arguments of a method.
func (o *agentLoginOptions) runMethod(ctx context.Context, m *acp.LoginMethod, config acp.Config) error {
	if config.Remote != nil {
		return exit.Unsupportedf("%s runs on another machine: log in there", o.Agent)
	}
	path, err := exec.LookPath(config.Command[0])
	if err != nil {
		return protocol.Errorf(protocol.CodeNoAgent, "%s not found", config.Command[0])
	}
	command := slices.Concat([]string{path}, config.Command[1:], m.Args)
	env := maps.Clone(config.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, m.Env)
	line := strings.Join(slices.Concat([]string{filepath.Base(path)}, command[1:]), " ")
	return o.runLogin(ctx, output.OneLine(line, 0), command, env)
}

// runLogin runs a command in this terminal, with variables in addition to the shell's.
func (o *agentLoginOptions) runLogin(ctx context.Context, line string, command []string, env map[string]string) error {
	o.CLI.Out.Notef("running: %s", line)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = os.Environ()
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.CLI.Stdin, o.CLI.Out.Stdout, o.CLI.Out.Stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if errors.As(err, &failed) && ctx.Err() == nil {
		return exit.Errorf(exit.Failure, protocol.CodeAgentFailed, "%s ended with %w", line, failed)
	}
	return err
}

// modelLogin reports whether a model has its key. There is nothing to log in to.
func (o *agentLoginOptions) modelLogin(registry *agents.Registry) error {
	r := localagent.Of(o.CLI).Inspector(registry).Inspect(o.Agent)
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
