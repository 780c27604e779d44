package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type stateExportOptions struct {
	app *app

	Session string
}

func newStateExport(a *app, run func(context.Context, *stateExportOptions) error) *cobra.Command {
	o := &stateExportOptions{app: a}
	return &cobra.Command{
		Use:   "export SESSION",
		Short: "Export the signed state of a session",
		Long: `Print the state of a session, signed by its server, as one line of JSON. It has the agent with its
memory, the queue, and the newest finished turns, as many as fit 512 KiB. It has no rules, no
environment and no blobs. It is signed, not encrypted.`,
		Example:           "  agentctl state export fix >fix.state",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
		RunE:              runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runStateExport(ctx context.Context, o *stateExportOptions) error {
	res, err := callOnce[protocol.ExportResult](ctx, o.app, protocol.DoExport, o.Session, nil)
	if err != nil {
		return err
	}
	if !o.app.json() {
		o.app.notef("valid until %s", res.Expires.Local().Format(time.DateTime))
	}
	return o.app.printer().PrintJSON(res.State)
}
