package acp

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol/acp"
	"agentctl/protocol/codec"
)

type acpOptions struct {
	verb.Options

	Fixed acp.Options
	Login string
}

var acpVerb = verb.Verb{
	Use:   "acp",
	Short: "Serve sessions to an editor",
	Long: `Serve the Agent Client Protocol on stdin and stdout, until stdin ends: an editor that starts this
command has sessions of the server as its threads. They continue when the editor ends, and terminals
and other editors can share them. A lost connection to the server is a pause. --session opens that
session instead of a new one. See docs/editors.md for the configuration of each editor.`,
	Example: "  agentctl acp --agent claude\n  agentctl acp --on box --cwd /srv/app",
	Group:   verb.GroupServer,
	Lacks: func(d *codec.Dialect) error {
		return codec.Unsupported(d.Name, "serving editors", "it carries no settings and no positions")
	},

	Do: &verb.Steps[acpOptions]{
		Flags: func(o *acpOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&o.Fixed.Agent, "agent", "", "`AGENT` of new sessions")
			f.StringVar(&o.Fixed.CWD, "cwd", "", "`DIR` of new sessions on the server, not the editor's")
			f.StringVar(&o.Fixed.Session, "session", "", "open this `SESSION` instead of a new one")
			f.StringVar(&o.Login, "login", "", "only log in to `AGENT`, for editors that ask")
			_ = cmd.RegisterFlagCompletionFunc("agent", completion.Agents(o.CLI))
			verb.CompleteDirs(cmd, "cwd")
		},
		Run: runACP,
	},
}

func runACP(ctx context.Context, o *acpOptions) error {
	if o.Login != "" {
		return runLogin(ctx, o)
	}
	c, err := connection.OpenWith(ctx, o.CLI, connection.Unbounded)
	if err != nil {
		return err
	}
	defer c.Close()
	o.Fixed.Login = c.Own
	ended, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt) // by the editor
	defer stop()
	return newHost(c, o).run(ended)
}

// runLogin runs the verb that logs in to an agent, in the terminal that the editor gives, and ends with
// its exit code: 0 is a login.
func runLogin(ctx context.Context, o *acpOptions) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"agents", "login", o.Login}
	if o.CLI.Flags.Data != "" { // its configuration may have the agent
		args = append(args, "--data", o.CLI.Flags.Data)
	}
	login := exec.CommandContext(ctx, program, args...)
	login.Stdin, login.Stdout, login.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = login.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) { // it has reported why
		return exit.Silent(max(ended.ExitCode(), exit.Failure))
	}
	return err
}

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&acpVerb}
