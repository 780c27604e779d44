package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

type rulesOptions struct {
	app *app

	Session string
}

func newRules(a *app) *cobra.Command {
	cmd := newRulesList(a, runRulesList)
	cmd.AddCommand(newRulesRevoke(a, runRulesRevoke))
	return cmd
}

func newRulesList(a *app, run func(context.Context, *rulesOptions) error) *cobra.Command {
	o := &rulesOptions{app: a}
	return &cobra.Command{
		Use:               "rules SESSION",
		Short:             "List and revoke approval rules",
		Long:              "List the rules that \"agentctl approve --always\" made in a session, one per line.",
		Example:           "  agentctl rules fix\n  agentctl rules revoke fix u_1",
		Args:              rangeArgs(1, 1),
		ValidArgsFunction: a.completeSessions,
		RunE:              runE(a, o, func(args []string) error { o.Session = args[0]; return nil }, run),
	}
}

func runRulesList(ctx context.Context, o *rulesOptions) error {
	res, err := callOnce[protocol.RulesResult](ctx, o.app, protocol.DoRulesList, o.Session, nil)
	if err != nil {
		return err
	}
	for i := range res.Rules {
		r := &res.Rules[i]
		err := o.app.print(r, func(w io.Writer) {
			fmt.Fprintf(w, "%s  %s  by %s  %s: %s\n", r.ID, r.Kind, output.Actor(&r.By),
				describe.Line(describe.Rule(r), 0), describe.Line(r.Scope, 0))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

type rulesRevokeOptions struct {
	app *app

	Session string
	Rules   []string
}

func newRulesRevoke(a *app, run func(context.Context, *rulesRevokeOptions) error) *cobra.Command {
	o := &rulesRevokeOptions{app: a}
	return &cobra.Command{
		Use:               "revoke SESSION RULE…",
		Short:             "Revoke approval rules",
		Long:              "Revoke approval rules. The agent asks again for what they allowed.",
		Example:           "  agentctl rules revoke fix u_1",
		Args:              rangeArgs(2, -1),
		ValidArgsFunction: a.completeInSession(ruleCompletions),
		RunE: runE(a, o, func(args []string) error {
			o.Session, o.Rules = args[0], args[1:]
			return nil
		}, run),
	}
}

func runRulesRevoke(ctx context.Context, o *rulesRevokeOptions) error {
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	for _, rule := range o.Rules {
		if _, err := call[protocol.Empty](c, protocol.DoRulesRevoke, o.Session,
			protocol.RulesRevokeData{Rule: rule}); err != nil {
			return err
		}
	}
	return nil
}
