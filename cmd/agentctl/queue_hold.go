package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type queueHoldOptions struct {
	app *app

	Session string
	Message string
}

func newQueueHold(a *app, run func(context.Context, *queueHoldOptions) error) *cobra.Command {
	o := &queueHoldOptions{app: a}
	return &cobra.Command{
		Use:   "hold SESSION [MESSAGE]",
		Short: "Hold the queue",
		Long: `Hold the queue until "agentctl queue release". With MESSAGE, hold only that message,
for 30 s: for editors while a user edits it.`,
		Example:           "  agentctl queue hold fix",
		Args:              rangeArgs(1, 2),
		ValidArgsFunction: a.completeInSession(messageCompletions),
		RunE: runE(a, o, func(args []string) error {
			o.Session = args[0]
			if len(args) > 1 {
				o.Message = args[1]
			}
			return nil
		}, run),
	}
}

func runQueueHold(ctx context.Context, o *queueHoldOptions) error {
	res, err := callOnce[protocol.QueueHoldResult](ctx, o.app, protocol.DoQueueHold, o.Session,
		protocol.QueueHoldData{MessageID: o.Message})
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) { fmt.Fprintln(w, res.Hold) })
}
