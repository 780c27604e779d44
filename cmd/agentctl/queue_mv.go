package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/protocol"
)

type queueMoveOptions struct {
	app *app

	Session string
	Message string
	Index   int
}

func newQueueMove(a *app, run func(context.Context, *queueMoveOptions) error) *cobra.Command {
	o := &queueMoveOptions{app: a}
	return &cobra.Command{
		Use:               "mv SESSION MESSAGE INDEX",
		Short:             "Move a queued message",
		Long:              "Move a queued message to INDEX in the queue. 0 is the next message to run.",
		Example:           "  agentctl queue mv fix m_12 0",
		Args:              rangeArgs(3, 3),
		ValidArgsFunction: a.completeInSession(messageCompletions),
		RunE: runE(a, o, func(args []string) error {
			index, err := strconv.Atoi(args[2])
			if err != nil || index < 0 {
				return exit.Usagef("invalid INDEX %q: want 0 or more", args[2])
			}
			o.Session, o.Message, o.Index = args[0], args[1], index
			return nil
		}, run),
	}
}

func runQueueMove(ctx context.Context, o *queueMoveOptions) error {
	_, err := callOnce[protocol.Empty](ctx, o.app, protocol.DoQueueMove, o.Session,
		protocol.QueueMoveData{MessageID: o.Message, Index: o.Index})
	return err
}
