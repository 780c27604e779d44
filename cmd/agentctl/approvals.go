package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type approvalsOptions struct {
	app *app

	Session string
}

func newApprovals(a *app, run func(context.Context, *approvalsOptions) error) *cobra.Command {
	o := &approvalsOptions{app: a}
	return &cobra.Command{
		Use:   "approvals [SESSION]",
		Short: "List pending approvals",
		Long: "List the pending approval requests of a session or, without SESSION, of all " +
			"sessions, one per line.",
		Example:           "  agentctl approvals\n  agentctl approvals fix -o json | jq -r .command",
		Args:              rangeArgs(0, 1),
		ValidArgsFunction: a.completeSessions,
		RunE: runE(a, o, func(args []string) error {
			if len(args) > 0 {
				o.Session = args[0]
			}
			return nil
		}, run),
	}
}

// An approvalResult is a pending request in JSON.
type approvalResult struct {
	Session string `json:"session"`
	protocol.Approval
}

func runApprovals(ctx context.Context, o *approvalsOptions) error {
	if o.Session == "" {
		if err := o.app.requireCommand(protocol.DoList, true); err != nil {
			return exit.From(err).WithHint("name a session: agentctl approvals SESSION")
		}
	}
	c, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	sessions := []string{o.Session}
	if o.Session == "" {
		if sessions, err = waitingSessions(c); err != nil {
			return err
		}
	}
	for _, session := range sessions {
		r, err := c.snapshot(session)
		if protocol.CodeOf(err) == protocol.CodeNoSession && o.Session == "" {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		s := r.Snapshot.State
		for i := range s.Approvals {
			result := approvalResult{s.Session, s.Approvals[i]}
			err := o.app.print(result, func(w io.Writer) {
				fmt.Fprintf(w, "%s  %s\n", result.Session, output.Approval(&result.Approval))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// waitingSessions returns the ids of the sessions with pending approvals.
func waitingSessions(c *connection) ([]string, error) {
	list, err := call[protocol.ListResult](c, protocol.DoList, "", nil)
	if err != nil {
		return nil, err
	}
	var ids []string
	for i := range list.Sessions {
		if list.Sessions[i].Approvals > 0 {
			ids = append(ids, list.Sessions[i].Session)
		}
	}
	return ids, nil
}
