package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agentctl/protocol"
)

type listOptions struct {
	app *app

	All bool
}

func newList(a *app, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{app: a}
	cmd := &cobra.Command{
		Use:     "ls",
		Short:   "List sessions",
		Long:    "List sessions, the one with the newest activity first. With -o json each is a line.",
		Example: "  agentctl ls\n  agentctl ls -o json | jq -r 'select(.status==\"waiting\").session'",
		Args:    takes(0, 0),
		RunE:    does(a, o, nil, run),
	}
	cmd.Flags().BoolVarP(&o.All, "all", "a", false, "closed sessions too")
	return cmd
}

func runList(ctx context.Context, o *listOptions) error {
	list, err := once[protocol.ListResult](ctx, o.app, protocol.DoList, "", protocol.ListData{Closed: o.All})
	if err != nil {
		return err
	}
	if o.app.json() {
		for i := range list.Sessions {
			if err := o.app.emitJSON(&list.Sessions[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return o.app.emit(nil, func(w io.Writer) { writeSessions(w, list.Sessions, time.Now()) })
}

// writeSessions writes one line for each session.
func writeSessions(w io.Writer, sessions []protocol.Summary, now time.Time) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer func() { _ = t.Flush() }() // w keeps its error
	if len(sessions) > 0 {
		fmt.Fprintln(t, "SESSION\tNAME\tSTATUS\tAGENT\tQUEUE\tASKS\tACTIVE\tABOUT")
	}
	for i := range sessions {
		s := &sessions[i]
		queue := fmt.Sprint(s.Queue)
		if s.Held {
			queue += " held"
		}
		about := s.Doing
		if about == "" {
			about = s.Title
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\n", s.Session, cell(s.Name, 24), s.Status, cell(s.Agent, 16), queue, s.Approvals,
			ago(now.Sub(s.Updated)), oneLine(about, 48))
	}
}

// cell is a table's cell; one that is empty shows so.
func cell(s string, width int) string {
	if s = oneLine(s, width); s == "" {
		return "-"
	}
	return s
}

// ago says roughly how long something was ago.
func ago(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
