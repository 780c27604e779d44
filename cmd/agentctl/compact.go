package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/tui/describe"
)

type compactOptions struct {
	app *app

	Session string
}

func newCompact(a *app, run func(context.Context, *compactOptions) error) *cobra.Command {
	o := &compactOptions{app: a}
	return &cobra.Command{
		Use:               "compact SESSION",
		Short:             "Compact the agent's context",
		Long:              "Compact the agent's context, and print its size before and after.",
		Example:           "  agentctl compact fix",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
		RunE:              runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runCompact(ctx context.Context, o *compactOptions) error {
	res, err := callOnce[protocol.CompactResult](ctx, o.app, protocol.DoCompact, o.Session, nil)
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) {
		fmt.Fprintln(w, cmp.Or(describe.Compaction(&res.Compacted, count), "compacted"))
	})
}
