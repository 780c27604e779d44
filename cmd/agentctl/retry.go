package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type retryOptions struct {
	app *app

	Session string
	Key     string
}

func newRetry(a *app, run func(context.Context, *retryOptions) error) *cobra.Command {
	o := &retryOptions{app: a}
	cmd := &cobra.Command{
		Use:   "retry SESSION",
		Short: "Send the last message again, as if for the first time",
		Long: `Let the agent forget its last turn and send the message of that turn again. Files stay as they
are: "agentctl undo" restores them.`,
		Example: "  agentctl retry fix",
		Args:    rangeArgs(1, 1), ValidArgsFunction: a.completeSessions,
		RunE: runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
	addKeyFlag(cmd, &o.Key)
	return cmd
}

func runRetry(ctx context.Context, o *retryOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	res, err := callWithKey[protocol.SendResult](c, protocol.DoRetry, o.Session, o.Key, protocol.Empty{})
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", res.Status, res.MessageID) })
}
