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
		Short: "Remove sessions",
		Long: `Remove sessions with their transcripts. The current turn is interrupted and the agent
is stopped. With --keep, a session is closed and can still be read.`,
		Example:           "  agentctl rm fix\n  agentctl rm --keep fix",
		Args:              rangeArgs(1, -1),
		ValidArgsFunction: a.completeSessions,
		RunE:              runE(a, o, func(args []string) error { o.Sessions = args; return nil }, run),
	}
	cmd.Flags().BoolVar(&o.Keep, "keep", false, "close the session, keep its transcript")
	return cmd
}

func runRemove(ctx context.Context, o *removeOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, session := range o.Sessions {
		if _, err := call[protocol.Empty](c, protocol.DoClose, session,
			protocol.CloseData{Delete: !o.Keep}); err != nil {
			return err
		}
	}
	return nil
}
