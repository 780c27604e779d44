package sessions

import (
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/sessiontable"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/sessionlist"
)

// Verbs are the verbs of this package.
var Verbs = []*verb.Verb{
	&lsVerb, &watchVerb, &renameVerb, &labelVerb, &forkVerb, &rmVerb, &importVerb, &stateVerb,
}

type listOptions struct {
	verb.Options

	All        bool
	AllServers bool
	Filter     []string
	Columns    []string
	NoHeader   bool
	Quiet      bool
	Summary    bool

	filters []sessionFilter // parsed from Filter
}

var lsVerb = verb.Verb{
	Use:   "ls",
	Short: "List sessions",
	Long: `List sessions, the most recently active first; with -o json, one per line. --filter takes
conditions, separated by commas: status=, agent=, name=, dir=, label=KEY or label=KEY=VALUE.
Archived sessions need --all, a filter by that label or JSON, unless they wait. --summary prints
one line for status bars. --all-servers includes the servers of the configuration; one that does
not answer within 5 seconds is reported. docs/scripts.md has the columns.`,
	Example: "  agentctl ls\n  agentctl ls --filter label=team=infra,status=waiting\n" +
		"  agentctl ls --columns name,status,dir --no-header\n" +
		"  agentctl ls --jq 'select(.status==\"waiting\").session'",
	Group: verb.GroupSession, Reads: true, Sends: protocol.DoList,

	Do: &verb.Steps[listOptions]{
		Flags: func(o *listOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringArrayVar(&o.Filter, "filter", nil, "only sessions that meet `CONDITIONS`; repeatable")
			f.BoolVarP(&o.All, "all", "a", false, "include closed and archived sessions")
			f.BoolVar(&o.AllServers, "all-servers", false, "list the sessions of all named servers")
			f.StringSliceVar(&o.Columns, "columns", nil, "print these `COLUMNS`")
			f.BoolVar(&o.NoHeader, "no-header", false, "print no header")
			f.BoolVarP(&o.Quiet, "quiet", "q", false, "print ids only")
			f.BoolVar(&o.Summary, "summary", false, "print the numbers of sessions by status")
			verb.CompleteValues(cmd, "columns", sessiontable.ColumnNames())
		},
		Read: func(o *listOptions, _ []string) (err error) {
			o.filters, err = parseSessionFilters(o.Filter)
			return cmp.Or(o.check(), err)
		},
		Run: runList,
	},
}

func (o *listOptions) check() error {
	if err := sessiontable.CheckColumns(o.Columns); err != nil {
		return err
	}
	if sessiontable.HasColumn(o.Columns, sessiontable.ColumnRate) {
		return exit.Usagef("column rate: ls reads the sessions once, and a rate needs several readings").
			WithHint("run: agentctl watch --columns %s", strings.Join(o.Columns, ","))
	}
	if o.Quiet && (o.Summary || len(o.Columns) > 0) || o.Summary && len(o.Columns) > 0 {
		return exit.Usagef("--quiet, --summary and --columns exclude each other")
	}
	return checkAllServers(o.CLI, o.AllServers)
}

// checkAllServers returns a usage error if --all-servers is passed beside a selected server.
func checkAllServers(cli *verb.Context, all bool) error {
	if all && (cli.Selected.Explicit || cli.Flags.Dialect != "") {
		return exit.Usagef("--all-servers excludes --server, --on, --data and --dialect")
	}
	return nil
}

func runList(ctx context.Context, o *listOptions) error {
	o.All = o.All || wantsClosed(o.filters)
	rows, err := o.read(ctx)
	if err != nil {
		return err
	}
	archived := o.All || wantsArchived(o.filters) || o.CLI.Out.JSON && !o.Quiet
	kept := rows[:0]
	for _, r := range rows {
		if matchesAll(o.filters, r.Summary) && (archived || !r.Archived || r.Status == protocol.Waiting) {
			kept = append(kept, r)
		}
	}
	return o.print(kept)
}

// read returns the sessions of the server, or of all named servers.
func (o *listOptions) read(ctx context.Context) ([]sessiontable.Row, error) {
	r := listRequest{closed: o.All, detail: sessiontable.HasDetail(o.Columns)}
	if o.AllServers {
		return listAllServers(ctx, o.CLI, r)
	}
	return listHome(ctx, o.CLI, r)
}

func (o *listOptions) print(rows []sessiontable.Row) error {
	if o.Summary {
		all := sessionlist.New()
		for i := range rows {
			put(all, &rows[i])
		}
		return printCounts(o.CLI.Out, countSessions(all))
	}
	if o.CLI.Out.JSON && !o.Quiet {
		return output.PrintEach(o.CLI.Out, rows, nil)
	}
	return o.CLI.Out.PrintText(func(w io.Writer) {
		if o.Quiet {
			sessiontable.WriteTable(w, rows, []string{"session"}, false, time.Now())
			return
		}
		sessiontable.WriteTable(w, rows, o.Columns, !o.NoHeader, time.Now())
	})
}
