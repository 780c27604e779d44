package main

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type removeOptions struct {
	app *app

	Sessions []string
	Keep     bool
}

func newRemove(a *app, run func(context.Context, *removeOptions) error) *cobra.Command {
	o := &removeOptions{app: a}
	cmd := &cobra.Command{
		Use:   "rm SESSION…",
		Short: "End sessions and remove them",
		Long: `End sessions: a turn under way is interrupted, the agent is stopped, and all that was said is removed. With --keep the session is
closed but can still be read.`,
		Example:           "  agentctl rm fix\n  agentctl rm --keep fix",
		Args:              takes(1, -1),
		ValidArgsFunction: a.sessions,
		RunE:              does(a, o, func(args []string) error { o.Sessions = args; return nil }, run),
	}
	cmd.Flags().BoolVar(&o.Keep, "keep", false, "only close: keep what was said")
	return cmd
}

func runRemove(ctx context.Context, o *removeOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	for _, session := range o.Sessions {
		if _, err := ask[protocol.Empty](l, protocol.DoClose, session, protocol.CloseData{Delete: !o.Keep}); err != nil {
			return err
		}
	}
	return nil
}
