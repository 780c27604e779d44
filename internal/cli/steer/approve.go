package steer

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var approveVerb = verb.Verb{
	Use:   "approve SESSION [REQUEST]",
	Short: "Approve a request of an agent",
	Long: `Approve a request of an agent, once; with --always, also the same requests in its scope from now on
("agentctl rules"). Without REQUEST, the session must have one pending request. On a terminal the
whole request is shown, and you are asked unless you pass --yes. --answer answers questions, by id
or number: 1=2 is the second choice of the first question; secrets are better in --input. A page that
the agent wants opened is printed. The first decision wins. See docs/scripts.md.`,
	Example: "  agentctl approve fix\n  agentctl approve fix r_3 --always\n" +
		"  agentctl approve fix --answer database=postgres\n" +
		"  agentctl approve fix --answer 1=2 --answer 2=yes",
	Group: verb.GroupSteer, Sends: protocol.DoApprove,
	Needs:    []verb.FlagFeature{{Flag: "always", Feature: codec.AllowAlways}},
	Trial:    "fix r1",
	Complete: completion.InSession(completion.Requests),

	Do: &verb.Steps[decisionOptions]{
		Flags: func(o *decisionOptions, cmd *cobra.Command) {
			o.Decision = protocol.AllowOnce
			o.addFlags(cmd)
			f := cmd.Flags()
			f.BoolVar(&o.Always, "always", false, "allow it from now on without asking")
			f.BoolVar(&o.Yes, "yes", false, "do not ask on a terminal")
			f.StringArrayVar(&o.Answers, "answer", nil, "answer question K with V, as `K=V`; repeatable")
			f.StringVar(&o.Input, "input", "", "`FILE` with JSON input or an edited patch, or -")
		},
		Read: (*decisionOptions).read,
		Run:  runDecision,
	},
}

var denyVerb = verb.Verb{
	Use:   "deny SESSION [REQUEST]",
	Short: "Deny a request of an agent",
	Long: `Deny a request of an agent. The agent receives the reason and continues without it; with --stop the
turn ends and the queue is held. Without REQUEST, the session must have one pending request. The
first decision wins; a later one fails with code conflict and names the winner.`,
	Example: "  agentctl deny fix --reason \"use the staging database\"\n  agentctl deny fix r_3 --stop",
	Group:   verb.GroupSteer, Sends: protocol.DoApprove,
	Needs:    []verb.FlagFeature{{Flag: "stop", Feature: codec.DenyStop}},
	Trial:    "fix r1",
	Complete: completion.InSession(completion.Requests),

	Do: &verb.Steps[decisionOptions]{
		Flags: func(o *decisionOptions, cmd *cobra.Command) {
			o.Decision = protocol.Deny
			o.addFlags(cmd)
			f := cmd.Flags()
			f.BoolVar(&o.Stop, "stop", false, "end the turn and hold the queue")
			f.BoolVar(&o.Replan, "replan", false, "request a new plan, with --reason as feedback")
			f.StringVar(&o.Input, "input", "", "`FILE` with JSON input, or -")
		},
		Read: (*decisionOptions).read,
		Run:  runDecision,
	},
}

var explainVerb = verb.Verb{
	Use:   "explain SESSION [REQUEST]",
	Short: "Have an agent explain a request",
	Long: `Have an agent explain a request, and print the explanation. The request stays pending. Without
REQUEST, the session must have one pending request.`,
	Example: "  agentctl explain fix",
	Group:   verb.GroupSteer, Sends: protocol.DoApprove,
	Lacks:    func(d *codec.Dialect) error { return d.UnsupportedFeature(codec.Explain, true) },
	Trial:    "fix r1",
	Complete: completion.InSession(completion.Requests),

	Do: &verb.Steps[decisionOptions]{
		Flags: func(o *decisionOptions, cmd *cobra.Command) {
			o.Decision = protocol.Explain
			o.addFlags(cmd)
		},
		Read: (*decisionOptions).read,
		Run:  runDecision,
	},
}

// printExplanation prints the newest explanation of a pending request.
func (o *decisionOptions) printExplanation(c *connection.Conn, res *protocol.ApproveResult) error {
	r, err := c.Snapshot(o.Session)
	if err != nil {
		return err
	}
	result := struct {
		protocol.ApproveResult
		Text string `json:"text"`
	}{ApproveResult: *res}
	if a := r.Snapshot.State.PendingApproval(res.Request); a != nil && len(a.Explained) > 0 {
		result.Text = a.Explained[len(a.Explained)-1]
	}
	return o.CLI.Out.Print(result, func(w io.Writer) { fmt.Fprintln(w, result.Text) })
}
