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
