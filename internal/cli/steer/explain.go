package steer

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/protocol"
	"agentctl/protocol/codec"
)

var explainVerb = verb.Verb{
	Name: "explain", Group: verb.GroupSteer,
	Build: func(cli *verb.Context) *cobra.Command { return newExplain(cli, runDecision) },
	Sends: protocol.DoApprove,
	Lacks: func(d *codec.Dialect) error { return d.UnsupportedFeature(codec.Explain, true) },
	Trial: "fix r1",
}

func newExplain(cli *verb.Context, run func(context.Context, *decisionOptions) error) *cobra.Command {
	o := &decisionOptions{cli: cli, Decision: protocol.Explain}
	cmd := &cobra.Command{
		Use:   "explain SESSION [REQUEST]",
		Short: "Have an agent explain a request",
		Long: "Have an agent explain a request, and print the explanation. The request stays pending." +
			decisionLong,
		Example: "  agentctl explain fix",
	}
	addDecision(cli, cmd, o, run)
	return cmd
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
	return o.cli.Print(result, func(w io.Writer) { fmt.Fprintln(w, result.Text) })
}
