package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

type rulesOptions struct {
	cli *verb.Context

	Session string
}

var rulesVerb = verb.Verb{
	Name: "rules", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newRules(cli, runRulesList) },
	Below: calls.Below("rules"),
	Reads: true, Sends: protocol.DoRulesList,
	Trial: "fix",
}

func newRules(cli *verb.Context, run func(context.Context, *rulesOptions) error) *cobra.Command {
	o := &rulesOptions{cli: cli}
	return &cobra.Command{
		Use:               "rules SESSION",
		Short:             "List and revoke approval rules",
		Long:              "List the rules that \"agentctl approve --always\" made in a session, one per line.",
		Example:           "  agentctl rules fix\n  agentctl rules revoke fix u_1",
		Args:              verb.RangeArgs(1, 1),
		ValidArgsFunction: completion.Sessions(cli),
		RunE:              verb.RunE(cli, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runRulesList(ctx context.Context, o *rulesOptions) error {
	res, err := connection.CallOnce[protocol.RulesResult](ctx, o.cli, protocol.DoRulesList, o.Session, nil)
	if err != nil {
		return err
	}
	for i := range res.Rules {
		r := &res.Rules[i]
		err := o.cli.Print(r, func(w io.Writer) {
			fmt.Fprintf(w, "%s  %s  by %s  %s: %s\n", r.ID, r.Kind, output.Actor(&r.By),
				describe.Line(describe.Rule(r), 0), describe.Line(r.Scope, 0))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
