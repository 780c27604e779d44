package sessions

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type forkOptions struct {
	cli *verb.Context

	Session string
	Turn    string
	Before  string
	Name    string
	Key     string
}

var forkVerb = verb.Verb{
	Name: "fork", Group: verb.GroupSession,
	Build: func(cli *verb.Context) *cobra.Command { return newFork(cli, runFork) },
	Sends: protocol.DoFork,
	Trial: "fix",
}

func newFork(cli *verb.Context, run func(context.Context, *forkOptions) error) *cobra.Command {
	o := &forkOptions{cli: cli}
	cmd := &cobra.Command{
		Use:   "fork SESSION",
		Short: "Make a new session from the turns of another",
		Long: `Make a session that has the turns of another, its agent, directory and variables, and print
its id. The other session stays as it is. With --turn the new one ends with that turn, with --before
it ends before it. A turn is its id, or a number counted from 1. Files are not copied: both sessions
work in the same directory.

Of turns that the agent has summarized, the new session gets the transcript as text.`,
		Example: "  agentctl fork fix --before 3 --name fix-again",
		Args:    verb.RangeArgs(1, 1), ValidArgsFunction: completion.Sessions(cli),
		RunE: verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
	f := cmd.Flags()
	f.StringVar(&o.Turn, "turn", "", "last `TURN` of the new session")
	f.StringVar(&o.Before, "before", "", "first `TURN` that the new session lacks")
	f.StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
	cmd.MarkFlagsMutuallyExclusive("turn", "before")
	verb.AddKeyFlag(cmd, &o.Key)
	return cmd
}

func runFork(ctx context.Context, o *forkOptions) error {
	c, err := connection.Open(ctx, o.cli)
	if err != nil {
		return err
	}
	defer c.Close()
	data := protocol.ForkData{Turn: o.Turn, Name: o.Name}
	if o.Before != "" {
		data.Turn, data.Before = o.Before, true
	}
	res, err := connection.CallWithKey[protocol.CreateResult](c, protocol.DoFork, o.Session, o.Key, data)
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}
