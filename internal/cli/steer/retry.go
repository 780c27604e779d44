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

type retryOptions struct {
	cli *verb.Context

	Session string
	Key     string
}

var retryVerb = verb.Verb{
	Name: "retry", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newRetry(cli, runRetry) },
	Sends: protocol.DoRetry,
	Trial: "fix",
}

func newRetry(cli *verb.Context, run func(context.Context, *retryOptions) error) *cobra.Command {
	o := &retryOptions{cli: cli}
	cmd := &cobra.Command{
		Use:   "retry SESSION",
		Short: "Send the last message again, as if for the first time",
		Long: `Let the agent forget its last turn and send the message of that turn again. Files stay as they
are: "agentctl undo" restores them.`,
		Example: "  agentctl retry fix",
		Args:    verb.RangeArgs(1, 1), ValidArgsFunction: completion.Sessions(cli),
		RunE: verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
	verb.AddKeyFlag(cmd, &o.Key)
	return cmd
}

func runRetry(ctx context.Context, o *retryOptions) error {
	c, err := connection.Open(ctx, o.cli)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := connection.CallWithKey[protocol.SendResult](c, protocol.DoRetry, o.Session, o.Key, protocol.Empty{})
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID) })
}
