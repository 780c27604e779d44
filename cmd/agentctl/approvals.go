package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

type approvalsOptions struct {
	app *app

	Session string
}

func newApprovals(a *app, run func(context.Context, *approvalsOptions) error) *cobra.Command {
	o := &approvalsOptions{app: a}
	return &cobra.Command{
		Use:               "approvals [SESSION]",
		Short:             "List what waits for a decision",
		Long:              "List the requests that wait for a decision, one per line: of one session, or of all.",
		Example:           "  agentctl approvals\n  agentctl approvals fix -o json | jq -r .command",
		Args:              takes(0, 1),
		ValidArgsFunction: a.sessions,
		RunE: does(a, o, func(args []string) error {
			if len(args) > 0 {
				o.Session = args[0]
			}
			return nil
		}, run),
	}
}

// An approvalView is a pending request as scripts read it.
type approvalView struct {
	Session string `json:"session"`
	protocol.Approval
}

func runApprovals(ctx context.Context, o *approvalsOptions) error {
	l, err := o.app.connect(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	sessions := []string{o.Session}
	if o.Session == "" {
		if sessions, err = l.waiting(); err != nil {
			return err
		}
	}
	for _, session := range sessions {
		r, err := l.snapshot(session)
		if protocol.CodeOf(err) == protocol.CodeNoSession && o.Session == "" {
			continue // removed meanwhile
		}
		if err != nil {
			return err
		}
		s := r.Snapshot.State
		for i := range s.Approvals {
			v := approvalView{s.Session, s.Approvals[i]}
			err := o.app.emit(v, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", v.Session, approvalLine(&v.Approval)) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// waiting names the sessions that wait for a decision.
func (l *link) waiting() ([]string, error) {
	all, err := ask[protocol.ListResult](l, protocol.DoList, "", nil)
	if err != nil {
		return nil, err
	}
	var ids []string
	for i := range all.Sessions {
		if all.Sessions[i].Approvals > 0 {
			ids = append(ids, all.Sessions[i].Session)
		}
	}
	return ids, nil
}

// approvalLine is a request in a line. What is to be decided on hides nothing.
func approvalLine(a *protocol.Approval) string {
	what := a.Command
	if what == "" {
		what = a.Title
	}
	return fmt.Sprintf("%s  %s  %s", a.Request, a.Kind, oneLine(transcript.Reveal(what), 100))
}
