package steer

import (
	"context"
	"fmt"
	"io"

	"agentctl/internal/cli/completion"
	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
)

type approvalsOptions struct {
	verb.Options

	Session string
}

var approvalsVerb = verb.Verb{
	Use:   "approvals [SESSION]",
	Short: "List pending approvals",
	Long: "List the pending approval requests of a session or, without SESSION, of all " +
		"sessions, one per line. The request of a sub-agent is " +
		"listed once, as one of the session whose agent it works for.",
	Example: "  agentctl approvals\n  agentctl approvals fix -o json | jq -r .command",
	Group:   verb.GroupSteer, Reads: true, Sends: protocol.DoSnapshot,
	Complete: completion.Sessions,

	Do: &verb.Steps[approvalsOptions]{
		Read: func(o *approvalsOptions, args []string) error {
			if len(args) > 0 {
				o.Session = args[0]
			}
			return nil
		},
		Run: runApprovals,
	},
}

// An approvalResult is a pending request in JSON.
type approvalResult struct {
	Session string `json:"session"`
	protocol.Approval
}

func runApprovals(ctx context.Context, o *approvalsOptions) error {
	if o.Session == "" {
		if err := o.CLI.Flags.RequireCommand(protocol.DoList, true); err != nil {
			return exit.From(err).WithHint("name a session: agentctl approvals SESSION")
		}
	}
	c, err := connection.Open(ctx, o.CLI)
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
		r, err := c.Snapshot(session)
		if protocol.CodeOf(err) == protocol.CodeNoSession && o.Session == "" {
			continue // removed since then
		}
		if err != nil {
			return err
		}
		s := r.Snapshot.State
		for i := range s.Approvals {
			if o.Session == "" && s.Mirrors(&s.Approvals[i]) { // it is one of its root
				continue
			}
			result := approvalResult{s.Session, s.Approvals[i]}
			err := o.CLI.Out.Print(result, func(w io.Writer) {
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
func waitingSessions(c *connection.Conn) ([]string, error) {
	list, err := connection.Call[protocol.ListResult](c, protocol.DoList, "", nil)
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
