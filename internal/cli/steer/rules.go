package steer

import (
	"fmt"
	"io"

	"agentctl/internal/cli/call"
	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/verb"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

var rulesVerb = verb.Verb{
	Use:     "rules SESSION",
	Short:   "List and revoke approval rules",
	Long:    "List the rules that \"agentctl approve --always\" made in a session, one per line.",
	Example: "  agentctl rules fix\n  agentctl rules revoke fix u_1",
	Group:   verb.GroupSteer, Reads: true, Sends: protocol.DoRulesList,
	Below:    []*verb.Verb{&rulesRevokeVerb},
	Trial:    "fix",
	Complete: completion.Sessions,

	Do: &call.Command{
		Run: func(c *call.Call) error {
			res, err := call.Send[protocol.RulesResult](c)
			if err != nil {
				return err
			}
			return output.PrintEach(c.CLI.Out, res.Rules, func(w io.Writer, r *protocol.Rule) {
				fmt.Fprintf(w, "%s  %s  by %s  %s: %s\n", r.ID, r.Kind, output.Actor(&r.By),
					describe.Line(describe.Rule(r), 0), describe.Line(r.Scope, 0))
			})
		},
	},
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
