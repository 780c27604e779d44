package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
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
		Short: "Interrupt the current turn",
		Long: `Interrupt the current turn and wait until it has ended. Its output so far is kept.
--queue selects what happens to queued messages: keep runs the next one, hold holds them until
"agentctl queue release", clear removes them.`,
		Example:           "  agentctl interrupt fix\n  agentctl interrupt fix --queue hold",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
	}
	cmd.RunE = runE(a, o, func(args []string) error {
		o.Session = args[0]
		switch o.Queue {
		case protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear:
			return nil
		}
		return exit.Usagef("invalid --queue %q: want keep, hold or clear", o.Queue)
	}, run)
	f := cmd.Flags()
	f.StringVar(&o.Queue, "queue", protocol.QueueKeep, "`ACTION`: keep, hold or clear the queue")
	f.StringVar(&o.Turn, "turn", "", "interrupt only if `TURN` is the current turn")
	completeValues(cmd, "queue", []string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear})
	return cmd
}

func runInterrupt(ctx context.Context, o *interruptOptions) error {
	res, err := callOnce[protocol.InterruptResult](ctx, o.app, protocol.DoInterrupt, o.Session,
		protocol.InterruptData{Turn: o.Turn, Queue: o.Queue})
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) {
		if res.Interrupted {
			fmt.Fprintf(w, "interrupted %s\n", res.Turn)
		} else {
			fmt.Fprintln(w, "no turn was running")
		}
	})
}
