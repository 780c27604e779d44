package sessions

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
)

type stateExportOptions struct {
	cli *verb.Context

	Session string
}

var stateExportVerb = verb.Verb{
	Name:  "export",
	Build: func(cli *verb.Context) *cobra.Command { return newStateExport(cli, runStateExport) },
	Sends: protocol.DoExport,
	Trial: "fix",
}

func newStateExport(cli *verb.Context, run func(context.Context, *stateExportOptions) error) *cobra.Command {
	o := &stateExportOptions{cli: cli}
	return &cobra.Command{
		Use:   "export SESSION",
		Short: "Export the signed state of a session",
		Long: `Print the state of a session, signed by its server, as one line of JSON. It has the agent with its
memory, the queue, and the newest finished turns, as many as fit 512 KiB. It has no rules, no
environment and no blobs. It is signed, not encrypted.`,
		Example:           "  agentctl state export fix >fix.state",
		Args:              verb.RangeArgs(1, 1),
		ValidArgsFunction: completion.Sessions(cli),
		RunE:              verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runStateExport(ctx context.Context, o *stateExportOptions) error {
	res, err := connection.CallOnce[protocol.ExportResult](ctx, o.cli, protocol.DoExport, o.Session, nil)
	if err != nil {
		return err
	}
	if !o.cli.JSON() {
		o.cli.Notef("valid until %s", res.Expires.Local().Format(time.DateTime))
	}
	return o.cli.Printer().PrintJSON(res.State)
}
