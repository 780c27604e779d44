package steer

import (
	"context"
	"fmt"
	"io"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

type rulesOptions struct {
	verb.Options

	Session string
}

var rulesVerb = verb.Verb{
	Use:     "rules SESSION",
	Short:   "List and revoke approval rules",
	Long:    "List the rules that \"agentctl approve --always\" made in a session, one per line.",
	Example: "  agentctl rules fix\n  agentctl rules revoke fix u_1",
	Group:   verb.GroupSteer, Reads: true, Sends: protocol.DoRulesList,
	Below:    []*verb.Verb{&rulesRevokeVerb},
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &verb.Steps[rulesOptions]{
		Read: func(o *rulesOptions, args []string) error { o.Session = args[0]; return nil },
		Run:  runRulesList,
	},
}

func runRulesList(ctx context.Context, o *rulesOptions) error {
	res, err := connection.CallOnce[protocol.RulesResult](ctx, o.CLI, protocol.DoRulesList, o.Session, nil)
	if err != nil {
		return err
	}
	for i := range res.Rules {
		r := &res.Rules[i]
		err := o.CLI.Out.Print(r, func(w io.Writer) {
			fmt.Fprintf(w, "%s  %s  by %s  %s: %s\n", r.ID, r.Kind, output.Actor(&r.By),
				describe.Line(describe.Rule(r), 0), describe.Line(r.Scope, 0))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var rulesRevokeVerb = verb.Verb{
	Use:     "revoke SESSION RULE…",
	Short:   "Revoke approval rules",
	Long:    "Revoke approval rules. The agent asks again for what they allowed.",
	Example: "  agentctl rules revoke fix u_1",
	Sends:   protocol.DoRulesRevoke, Trial: "fix rule1",
	Complete: completion.InSession(completion.Rules),

	Do: &call.Command{
		Data: func(in *call.Input) (any, error) { return protocol.RulesRevokeData{Rule: in.Arg(0)}, nil },
	},
}
