package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

func newExplain(a *app, run func(context.Context, *decisionOptions) error) *cobra.Command {
	o := &decisionOptions{app: a, Decision: protocol.Explain}
	cmd := &cobra.Command{
		Use:   "explain SESSION [REQUEST]",
		Short: "Have an agent explain a request",
		Long: "Have an agent explain a request, and print the explanation. The request stays pending." +
			decisionLong,
		Example: "  agentctl explain fix",
	}
	a.addDecision(cmd, o, run)
	return cmd
}

// printExplanation prints the newest explanation of a pending request.
func (o *decisionOptions) printExplanation(c *connection, res *protocol.ApproveResult) error {
	r, err := c.snapshot(o.Session)
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
	return o.app.print(result, func(w io.Writer) { fmt.Fprintln(w, result.Text) })
}
