package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type interruptOptions struct {
	app *app

	Session string
	Queue   string
	Turn    string
}

func newInterrupt(a *app, run func(context.Context, *interruptOptions) error) *cobra.Command {
	o := &interruptOptions{app: a}
	cmd := &cobra.Command{
		Use:   "interrupt SESSION",
		Short: "Stop the turn under way",
		Long: `Stop the turn under way and return once it has ended. What it has said so far is kept. --queue says what becomes of the messages
that wait: keep runs the next one, hold keeps them waiting until "queue release", clear removes them.`,
		Example:           "  agentctl interrupt fix\n  agentctl interrupt fix --queue hold",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
	}
	cmd.RunE = does(a, o, func(args []string) error {
		o.Session = args[0]
		switch o.Queue {
		case protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear:
			return nil
		}
		return usagef("--queue is keep, hold or clear, not %q", o.Queue)
	}, run)
	f := cmd.Flags()
	f.StringVar(&o.Queue, "queue", protocol.QueueKeep, "`WHAT` becomes of it: keep, hold or clear")
	f.StringVar(&o.Turn, "turn", "", "only if this `TURN` is the one under way")
	_ = cmd.RegisterFlagCompletionFunc("queue", cobra.FixedCompletions([]string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear},
		cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runInterrupt(ctx context.Context, o *interruptOptions) error {
	res, err := once[protocol.InterruptResult](ctx, o.app, protocol.DoInterrupt, o.Session, protocol.InterruptData{Turn: o.Turn, Queue: o.Queue})
	if err != nil {
		return err
	}
	return o.app.emit(res, func(w io.Writer) {
		if res.Interrupted {
			fmt.Fprintf(w, "interrupted %s\n", res.Turn)
		} else {
			fmt.Fprintln(w, "no turn was under way")
		}
	})
}
