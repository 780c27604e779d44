package steer

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

type queueHoldOptions struct {
	cli *verb.Context

	Session string
	Message string
}

var queueHoldVerb = verb.Verb{
	Name:  "hold",
	Build: func(cli *verb.Context) *cobra.Command { return newQueueHold(cli, runQueueHold) },
	Sends: protocol.DoQueueHold,
	Trial: "fix",
}

func newQueueHold(cli *verb.Context, run func(context.Context, *queueHoldOptions) error) *cobra.Command {
	o := &queueHoldOptions{cli: cli}
	return &cobra.Command{
		Use:   "hold SESSION [MESSAGE]",
		Short: "Hold the queue",
		Long: `Hold the queue until "agentctl queue release". With MESSAGE, hold only that message,
for 30 s: for editors while a user edits it.`,
		Example:           "  agentctl queue hold fix",
		Args:              verb.RangeArgs(1, 2),
		ValidArgsFunction: completion.InSession(cli, completion.Messages),
		RunE: verb.RunE(cli, o, func(args []string) error {
			o.Session = args[0]
			if len(args) > 1 {
				o.Message = args[1]
			}
			return nil
		}, run),
	}
}

func runQueueHold(ctx context.Context, o *queueHoldOptions) error {
	res, err := connection.CallOnce[protocol.QueueHoldResult](ctx, o.cli, protocol.DoQueueHold, o.Session,
		protocol.QueueHoldData{MessageID: o.Message})
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) { fmt.Fprintln(w, res.Hold) })
}
