package sessions

import (
	"context"

	"github.com/spf13/cobra"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/screen"
	"agentctl/internal/cli/sessiontable"
	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

type watchOptions struct {
	verb.Options

	AllServers bool
	Columns    []string
	Filter     []string
	Summary    bool

	filters []sessionFilter // parsed from Filter
}

var watchVerb = verb.Verb{
	Use:   "watch",
	Short: "Print changes of sessions as they happen",
	Long: `Print a line for every session, then one for each change of its status, request, queue or title,
until interrupted. With -o json, print sessions as "agentctl ls" does, with "deleted" for a removed
one. A lost connection is resumed. --columns prints these columns of "agentctl ls" when one has
changed; rate is tokens a second over the last half minute. --summary prints the line of "agentctl
ls --summary" when it changes. --filter is as for ls.`,
	Example: "  agentctl watch\n  agentctl watch --filter label=team=infra -o json\n" +
		"  agentctl watch --columns name,status,turn,rate,lag\n" +
		"  agentctl watch --summary --all-servers",
	Group: verb.GroupSession, Reads: true, Sends: protocol.DoWatch,

	Do: &verb.Steps[watchOptions]{
		Flags: func(o *watchOptions, cmd *cobra.Command) {
			f := cmd.Flags()
			f.BoolVar(&o.AllServers, "all-servers", false, "watch the sessions of all named servers")
			f.StringArrayVar(&o.Filter, "filter", nil, "only sessions that meet `CONDITIONS`; repeatable")
			f.StringSliceVar(&o.Columns, "columns", nil, "print these `COLUMNS`")
			f.BoolVar(&o.Summary, "summary", false, "print the numbers of sessions by status")
			verb.CompleteValues(cmd, "columns", sessiontable.ColumnNames())
		},
		Read: func(o *watchOptions, _ []string) (err error) {
			if err := checkAllServers(o.CLI, o.AllServers); err != nil {
				return err
			}
			if o.Summary && len(o.Columns) > 0 {
				return exit.Usagef("--summary and --columns exclude each other")
			}
			if err := sessiontable.CheckColumns(o.Columns); err != nil {
				return err
			}
			o.filters, err = parseSessionFilters(o.Filter)
			return err
		},
		Run: runWatch,
	},
}

func runWatch(ctx context.Context, o *watchOptions) error {
	ctx, stop := verb.WhileRead(ctx, o.CLI.Out.Stdout)
	defer stop()
	c, err := connection.OpenWith(ctx, o.CLI, connection.Unbounded)
	if err != nil {
		return err
	}
	defer c.Close()
	var server remote.Server = screen.Server{Client: c.Client}
	if o.AllServers {
		var closeOthers func()
		server, closeOthers = screen.WithNamedServers(o.CLI, server)
		defer closeOthers()
	}
	p := newWatchPrinter(o)
	if err := p.printFirst(c); err != nil {
		return err
	}
	for s, err := range server.Watch(c.Context()) {
		if err == nil && p.put(&s) {
			err = p.print(o.row(c.Context(), server, &s))
		}
		if err != nil {
			return c.Cause(err)
		}
	}
	return context.Cause(c.Context())
}

// row returns a session with the detail that columns show. A failure leaves that out: the
// connection may be lost, and the next change reads it again.
func (o *watchOptions) row(ctx context.Context, server remote.Server, s *protocol.Summary) *sessiontable.Row {
	row := new(sessiontable.NewRow(s))
	if !s.Deleted && sessiontable.HasDetail(o.Columns) {
		ctx, cancel := context.WithTimeout(ctx, listTimeout)
		defer cancel()
		_ = row.ReadDetail(ctx, server)
	}
	return row
}
