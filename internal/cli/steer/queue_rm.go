package steer

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type queueRemoveOptions struct {
	cli *verb.Context

	Session  string
	Messages []string
}

var queueRmVerb = verb.Verb{
	Name:  "rm",
	Build: func(cli *verb.Context) *cobra.Command { return newQueueRemove(cli, runQueueRemove) },
	Sends: protocol.DoQueueRemove,
	Trial: "fix m1",
}

func newQueueRemove(cli *verb.Context, run func(context.Context, *queueRemoveOptions) error) *cobra.Command {
	o := &queueRemoveOptions{cli: cli}
	return &cobra.Command{
		Use:               "rm SESSION MESSAGE…",
		Short:             "Remove queued messages",
		Long:              "Remove queued messages. It fails at the first message that has started or was removed.",
		Example:           "  agentctl queue rm fix m_12",
		Args:              verb.RangeArgs(2, -1),
		ValidArgsFunction: completion.InSession(cli, completion.Messages),
		RunE: verb.RunE(cli, o, func(args []string) error {
			o.Session, o.Messages = args[0], args[1:]
			return nil
		}, run),
	}
}

func runQueueRemove(ctx context.Context, o *queueRemoveOptions) error {
	c, err := connection.Open(ctx, o.cli)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, m := range o.Messages {
		res, err := connection.Call[protocol.QueueRemoveResult](c, protocol.DoQueueRemove, o.Session,
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
