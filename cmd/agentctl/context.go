package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type contextOptions struct {
	app *app

	Session string
}

func newContext(a *app, run func(context.Context, *contextOptions) error) *cobra.Command {
	o := &contextOptions{app: a}
	return &cobra.Command{
		Use:               "context SESSION",
		Short:             "Show how full the agent's context is",
		Example:           "  agentctl context fix -o json | jq .context.percent",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
		RunE:              does(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runContext(ctx context.Context, o *contextOptions) error {
	res, err := once[protocol.ContextResult](ctx, o.app, protocol.DoContext, o.Session, nil)
	if err != nil {
		return err
	}
	return o.app.emit(res, func(w io.Writer) {
		c := res.Context
		fmt.Fprintf(w, "%.0f%%  %d of %d tokens, %d messages\n", c.Percent, c.Tokens, c.MaxTokens, c.TranscriptLength)
		if u := res.Usage; u != nil {
			fmt.Fprintf(w, "used  %d tokens in, %d out\n", u.Input, u.Output)
		}
	})
}

type compactOptions struct {
	app *app

	Session string
}

func newCompact(a *app, run func(context.Context, *compactOptions) error) *cobra.Command {
	o := &compactOptions{app: a}
	return &cobra.Command{
		Use:               "compact SESSION",
		Short:             "Make the agent's context smaller",
		Example:           "  agentctl compact fix",
		Args:              takes(1, 1),
		ValidArgsFunction: a.sessions,
		RunE:              does(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runCompact(ctx context.Context, o *compactOptions) error {
	res, err := once[protocol.CompactResult](ctx, o.app, protocol.DoCompact, o.Session, nil)
	if err != nil {
		return err
	}
	return o.app.emit(res, func(w io.Writer) {
		c := res.Compacted
		fmt.Fprintf(w, "%d → %d tokens (%.0f%% less)\n", c.Before, c.After, c.Percent)
	})
}
