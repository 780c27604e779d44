package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

type interruptOptions struct {
	cli *verb.Context

	Session string
	Queue   string
	Turn    string
}

var interruptVerb = verb.Verb{
	Name: "interrupt", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newInterrupt(cli, runInterrupt) },
	Sends: protocol.DoInterrupt,
	Needs: []verb.FlagFeature{
		{Flag: "queue=hold", Feature: codec.InterruptHold},
		{Flag: "queue=clear", Feature: codec.InterruptClear},
	},
	Trial: "fix",
}

func newInterrupt(cli *verb.Context, run func(context.Context, *interruptOptions) error) *cobra.Command {
	o := &interruptOptions{cli: cli}
	cmd := &cobra.Command{
		Use:   "interrupt SESSION",
		Short: "Interrupt the current turn",
		Long: `Interrupt the current turn and wait until it has ended. Its output so far is kept.
--queue selects what happens to queued messages: keep runs the next one, hold holds them until
"agentctl queue release", clear removes them.`,
		Example:           "  agentctl interrupt fix\n  agentctl interrupt fix --queue hold",
		Args:              verb.RangeArgs(1, 1),
		ValidArgsFunction: completion.Sessions(cli),
	}
	cmd.RunE = verb.RunE(cli, o, func(args []string) error {
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
	verb.RequireValues(f, "turn")
	verb.CompleteValues(cmd, "queue", []string{protocol.QueueKeep, protocol.QueueHold, protocol.QueueClear})
	return cmd
}

func runInterrupt(ctx context.Context, o *interruptOptions) error {
	res, err := connection.CallOnce[protocol.InterruptResult](ctx, o.cli, protocol.DoInterrupt, o.Session,
		protocol.InterruptData{Turn: o.Turn, Queue: o.Queue})
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) {
		if res.Interrupted {
			fmt.Fprintf(w, "interrupted %s\n", res.Turn)
		} else {
			fmt.Fprintln(w, "no turn was running")
		}
	})
}
