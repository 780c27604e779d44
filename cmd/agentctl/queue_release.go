package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type queueReleaseOptions struct {
	app *app

	Session string
	Hold    string
}

func newQueueRelease(a *app, run func(context.Context, *queueReleaseOptions) error) *cobra.Command {
	o := &queueReleaseOptions{app: a}
	return &cobra.Command{
		Use:   "release SESSION [HOLD]",
		Short: "Release the queue",
		Long: "Release one hold or, without HOLD, all holds but the edits of other users. Then the " +
			"queue runs.",
		Example:           "  agentctl queue release fix",
		Args:              rangeArgs(1, 2),
		ValidArgsFunction: a.completeInSession(holdCompletions),
		RunE: runE(a, o, func(args []string) error {
			o.Session = args[0]
			if len(args) > 1 {
				o.Hold = args[1]
			}
			return nil
		}, run),
	}
}

func runQueueRelease(ctx context.Context, o *queueReleaseOptions) error {
	res, err := callOnce[protocol.QueueReleaseResult](ctx, o.app, protocol.DoQueueRelease, o.Session,
		protocol.QueueReleaseData{Hold: o.Hold})
	if err != nil {
		return err
	}
	res.Released = nonNil(res.Released)
	return o.app.print(res, func(w io.Writer) {
		for _, hold := range res.Released {
			fmt.Fprintln(w, hold)
		}
	})
}
