package steer

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

type compactOptions struct {
	cli *verb.Context

	Session string
}

var compactVerb = verb.Verb{
	Name: "compact", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newCompact(cli, runCompact) },
	Sends: protocol.DoCompact,
	Trial: "fix",
}

func newCompact(cli *verb.Context, run func(context.Context, *compactOptions) error) *cobra.Command {
	o := &compactOptions{cli: cli}
	return &cobra.Command{
		Use:               "compact SESSION",
		Short:             "Compact the agent's context",
		Long:              "Compact the agent's context, and print its size before and after.",
		Example:           "  agentctl compact fix",
		Args:              verb.RangeArgs(1, 1),
		ValidArgsFunction: completion.Sessions(cli),
		RunE:              verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runCompact(ctx context.Context, o *compactOptions) error {
	res, err := connection.CallOnce[protocol.CompactResult](ctx, o.cli, protocol.DoCompact, o.Session, nil)
	if err != nil {
		return err
	}
	return o.cli.Print(res, func(w io.Writer) {
		fmt.Fprintln(w, cmp.Or(describe.Compaction(&res.Compacted, tokens), "compacted"))
	})
}

// tokens formats a number of tokens.
func tokens(n int64) string { return strconv.FormatInt(n, 10) }
