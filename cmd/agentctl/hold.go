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
		Short: "Keep the queue from running",
		Long: `Keep the queue from running until "queue release". With MESSAGE only that message is held, for 30 s: that is what an editor does while
a person edits.`,
		Example:           "  agentctl queue hold fix",
		Args:              takes(1, 2),
		ValidArgsFunction: a.within(queuedMessages),
		RunE: does(a, o, func(args []string) error {
			o.Session = args[0]
			if len(args) > 1 {
				o.Message = args[1]
			}
			return nil
		}, run),
	}
}

func runQueueHold(ctx context.Context, o *queueHoldOptions) error {
	res, err := once[protocol.QueueHoldResult](ctx, o.app, protocol.DoQueueHold, o.Session, protocol.QueueHoldData{MessageID: o.Message})
	if err != nil {
		return err
	}
	return o.app.emit(res, func(w io.Writer) { fmt.Fprintln(w, res.Hold) })
}

type queueReleaseOptions struct {
	app *app

	Session string
	Hold    string
}

func newQueueRelease(a *app, run func(context.Context, *queueReleaseOptions) error) *cobra.Command {
	o := &queueReleaseOptions{app: a}
	return &cobra.Command{
		Use:               "release SESSION [HOLD]",
		Short:             "Let the queue run again",
		Long:              "Lift one hold, or all but what other people edit; then the queue runs.",
		Example:           "  agentctl queue release fix",
		Args:              takes(1, 2),
		ValidArgsFunction: a.within(holds),
		RunE: does(a, o, func(args []string) error {
			o.Session = args[0]
			if len(args) > 1 {
				o.Hold = args[1]
			}
			return nil
		}, run),
	}
}

func runQueueRelease(ctx context.Context, o *queueReleaseOptions) error {
	res, err := once[protocol.QueueReleaseResult](ctx, o.app, protocol.DoQueueRelease, o.Session, protocol.QueueReleaseData{Hold: o.Hold})
	if err != nil {
		return err
	}
	res.Released = list(res.Released)
	return o.app.emit(res, func(w io.Writer) {
		for _, hold := range res.Released {
			fmt.Fprintln(w, hold)
		}
	})
}
