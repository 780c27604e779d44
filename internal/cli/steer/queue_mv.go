package steer

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
)

type queueMoveOptions struct {
	cli *verb.Context

	Session string
	Message string
	Index   int
}

var queueMvVerb = verb.Verb{
	Name:  "mv",
	Build: func(cli *verb.Context) *cobra.Command { return newQueueMove(cli, runQueueMove) },
	Sends: protocol.DoQueueMove,
	Trial: "fix m1 0",
}

func newQueueMove(cli *verb.Context, run func(context.Context, *queueMoveOptions) error) *cobra.Command {
	o := &queueMoveOptions{cli: cli}
	return &cobra.Command{
		Use:               "mv SESSION MESSAGE INDEX",
		Short:             "Move a queued message",
		Long:              "Move a queued message to INDEX in the queue. 0 is the next message to run.",
		Example:           "  agentctl queue mv fix m_12 0",
		Args:              verb.RangeArgs(3, 3),
		ValidArgsFunction: completion.InSession(cli, completion.Messages),
		RunE: verb.RunE(cli, o, func(args []string) error {
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
	_, err := connection.CallOnce[protocol.Empty](ctx, o.cli, protocol.DoQueueMove, o.Session,
		protocol.QueueMoveData{MessageID: o.Message, Index: o.Index})
	return err
}
