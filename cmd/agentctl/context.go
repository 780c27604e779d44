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
		Short:             "Show the usage of the agent's context",
		Long:              "Show how much of the agent's context is used, and the tokens of the session so far.",
		Example:           "  agentctl context fix -o json | jq .context.percent",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
		RunE:              runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runContext(ctx context.Context, o *contextOptions) error {
	res, err := callOnce[protocol.ContextResult](ctx, o.app, protocol.DoContext, o.Session, nil)
	if err != nil {
		return err
	}
	return o.app.print(res, func(w io.Writer) {
		c := res.Context
		fmt.Fprintf(w, "%.0f%%  %d of %d tokens, %d messages\n", c.Percent, c.Tokens, c.MaxTokens, c.TranscriptLength)
		if u := res.Usage; u != nil {
			fmt.Fprintf(w, "used  %d tokens in, %d out\n", u.Input, u.Output)
		}
	})
}
