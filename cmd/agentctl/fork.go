package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type forkOptions struct {
	app *app

	Session string
	Turn    string
	Before  string
	Name    string
	Key     string
}

func newFork(a *app, run func(context.Context, *forkOptions) error) *cobra.Command {
	o := &forkOptions{app: a}
	cmd := &cobra.Command{
		Use:   "fork SESSION",
		Short: "Make a new session from the turns of another",
		Long: `Make a session that has the turns of another, its agent, directory and variables, and print
its id. The other session stays as it is. With --turn the new one ends with that turn, with --before
it ends before it. A turn is its id, or a number counted from 1. Files are not copied: both sessions
work in the same directory.

Of turns that the agent has summarized, the new session gets the transcript as text.`,
		Example: "  agentctl fork fix --before 3 --name fix-again",
		Args:    rangeArgs(1, 1), ValidArgsFunction: a.completeSessions,
		RunE: runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
	f := cmd.Flags()
	f.StringVar(&o.Turn, "turn", "", "last `TURN` of the new session")
	f.StringVar(&o.Before, "before", "", "first `TURN` that the new session lacks")
	f.StringVar(&o.Name, "name", "", "unique `NAME` of the new session")
	cmd.MarkFlagsMutuallyExclusive("turn", "before")
	addKeyFlag(cmd, &o.Key)
	return cmd
}

func runFork(ctx context.Context, o *forkOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	data := protocol.ForkData{Turn: o.Turn, Name: o.Name}
	if o.Before != "" {
		data.Turn, data.Before = o.Before, true
	}
	res, err := callWithKey[protocol.CreateResult](c, protocol.DoFork, o.Session, o.Key, data)
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) { fmt.Fprintln(w, res.Session) })
}
