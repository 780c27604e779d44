package main

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type queueRemoveOptions struct {
	app *app

	Session  string
	Messages []string
}

func newQueueRemove(a *app, run func(context.Context, *queueRemoveOptions) error) *cobra.Command {
	o := &queueRemoveOptions{app: a}
	return &cobra.Command{
		Use:               "rm SESSION MESSAGE…",
		Short:             "Remove queued messages",
		Long:              "Remove queued messages. It fails at the first message that has started or was removed.",
		Example:           "  agentctl queue rm fix m_12",
		Args:              rangeArgs(2, -1),
		ValidArgsFunction: a.completeInSession(messageCompletions),
		RunE: runE(a, o, func(args []string) error {
			o.Session, o.Messages = args[0], args[1:]
			return nil
		}, run),
	}
}

func runQueueRemove(ctx context.Context, o *queueRemoveOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, m := range o.Messages {
		res, err := call[protocol.QueueRemoveResult](c, protocol.DoQueueRemove, o.Session,
			protocol.QueueRemoveData{MessageID: m})
		if err != nil {
			return err
		}
		if !res.Removed {
			return protocol.Errorf(protocol.CodeNotFound, "message %s is not queued: it has started or was removed", m)
		}
	}
	return nil
}
