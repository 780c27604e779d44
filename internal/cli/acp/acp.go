package acp

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
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
		program, err := os.Executable()
		if err != nil {
			return err
		}
		login := exec.CommandContext(ctx, program, "agents", "login", o.Login)
		login.Stdin, login.Stdout, login.Stderr = os.Stdin, os.Stdout, os.Stderr
		return login.Run()
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

// Verbs are the verbs of this package, in the order of the help.
var Verbs = []*verb.Verb{&acpVerb}
