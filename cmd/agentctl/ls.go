package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/output"
	"agentctl/protocol"
)

type listOptions struct {
	app *app

	All    bool
	Filter []string
}

func newList(a *app, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{app: a}
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List sessions",
		Long: "List sessions, the most recently active first; with -o json, one per line.\n\n" +
			"--filter takes conditions, separated by commas: status=, agent=, name= (a part of it), dir= (or\n" +
			"below it), label=KEY or label=KEY=VALUE. Each kind must hold; of a kind, except labels, one value\n" +
			"is enough.",
		Example: "  agentctl ls\n  agentctl ls --filter label=team=infra,status=waiting\n" +
			"  agentctl ls -o json | jq -r 'select(.status==\"waiting\").session'",
		Args: rangeArgs(0, 0),
		RunE: runE(a, o, func([]string) error {
			_, err := parseSessionFilters(o.Filter)
			return err
		}, run),
	}
	cmd.Flags().StringArrayVar(&o.Filter, "filter", nil, "only sessions that meet `CONDITIONS`; repeatable")
	cmd.Flags().BoolVarP(&o.All, "all", "a", false, "include closed sessions")
	return cmd
}

func runList(ctx context.Context, o *listOptions) error {
	list, err := callOnce[protocol.ListResult](ctx, o.app, protocol.DoList, "", protocol.ListData{Closed: o.All})
	if err != nil {
		return err
	}
	filters, err := parseSessionFilters(o.Filter)
	if err != nil {
		return err
	}
	list.Sessions = slices.DeleteFunc(list.Sessions, func(s protocol.Summary) bool {
		return slices.ContainsFunc(filters, func(f sessionFilter) bool { return !f.matches(&s) })
	})
	if o.app.json() {
		for i := range list.Sessions {
			if err := o.app.printer().PrintJSON(&list.Sessions[i]); err != nil {
				return err
			}
		}
		return nil
	}
	return o.app.print(nil, func(w io.Writer) { writeSessions(w, list.Sessions, time.Now()) })
}

// writeSessions writes a table with one line per session.
func writeSessions(w io.Writer, sessions []protocol.Summary, now time.Time) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer func() { _ = t.Flush() }() // w keeps its error
	family := slices.ContainsFunc(sessions, func(s protocol.Summary) bool { return s.Parent != "" })
	parent := func(id string) string { // a column only where a session has a parent
		if !family {
			return ""
		}
		return cmp.Or(id, "-") + "\t"
	}
	if len(sessions) > 0 {
		heading := ""
		if family {
			heading = "PARENT\t"
		}
		fmt.Fprintln(t, "SESSION\t"+heading+"NAME\tSTATUS\tAGENT\tQUEUE\tASKS\tACTIVE\tABOUT")
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
		fmt.Fprintf(t, "%s\t%s%s\t%s\t%s\t%s\t%d\t%s\t%s\n", s.Session, parent(s.Parent),
			output.Cell(s.Name, 24), s.Status, output.Cell(s.Agent, 16), queue, s.Approvals,
			output.Age(now.Sub(s.Updated)), output.OneLine(about, 48))
	}
}
