package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type queueReleaseOptions struct {
	cli *verb.Context

	Session string
	Hold    string
}

var queueReleaseVerb = verb.Verb{
	Name:  "release",
	Build: func(cli *verb.Context) *cobra.Command { return newQueueRelease(cli, runQueueRelease) },
	Sends: protocol.DoQueueRelease,
	Trial: "fix h1",
}

func newQueueRelease(cli *verb.Context, run func(context.Context, *queueReleaseOptions) error) *cobra.Command {
	o := &queueReleaseOptions{cli: cli}
	return &cobra.Command{
		Use:   "release SESSION [HOLD]",
		Short: "Release the queue",
		Long: "Release one hold or, without HOLD, all holds but the edits of other users. Then the " +
			"queue runs.",
		Example:           "  agentctl queue release fix",
		Args:              verb.RangeArgs(1, 2),
		ValidArgsFunction: completion.InSession(cli, completion.Holds),
		RunE: verb.RunE(cli, o, func(args []string) error {
			o.Session = args[0]
			if len(args) > 1 {
				o.Hold = args[1]
			}
			return nil
		}, run),
	}
}

func runQueueRelease(ctx context.Context, o *queueReleaseOptions) error {
	res, err := connection.CallOnce[protocol.QueueReleaseResult](ctx, o.cli, protocol.DoQueueRelease, o.Session,
		protocol.QueueReleaseData{Hold: o.Hold})
	if err != nil {
		return err
	}
	res.Released = output.NonNil(res.Released)
	return o.cli.Print(res, func(w io.Writer) {
		for _, hold := range res.Released {
			fmt.Fprintln(w, hold)
		}
	})
}
