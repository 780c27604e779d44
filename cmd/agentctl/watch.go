package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionlist"
)

type watchOptions struct {
	app *app

	AllServers bool
	Filter     []string
	Summary    bool
}

func newWatch(a *app, run func(context.Context, *watchOptions) error) *cobra.Command {
	o := &watchOptions{app: a}
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Print changes of sessions as they happen",
		Long: `Print a line for every session, then one for each change of its status, request, queue or
title, until interrupted; with -o json, the session as "agentctl ls -o json" prints it, with
"deleted" for one that was removed. A lost connection is resumed.

--summary prints the line of "agentctl ls --summary" instead, each time that it changes.
--filter is as for ls.`,
		Example: "  agentctl watch\n  agentctl watch --filter label=team=infra -o json\n" +
			"  agentctl watch --summary --all-servers",
		Args: rangeArgs(0, 0),
		RunE: runE(a, o, func([]string) error {
			if o.AllServers && (a.serverNamed || a.flags.Dialect != "") {
				return exit.Usagef("--all-servers excludes --server, --on, --data and --dialect")
			}
			_, err := parseSessionFilters(o.Filter)
			return err
		}, run),
	}
	f := cmd.Flags()
	f.BoolVar(&o.AllServers, "all-servers", false, "watch the sessions of all named servers")
	f.StringArrayVar(&o.Filter, "filter", nil, "only sessions that meet `CONDITIONS`; repeatable")
	f.BoolVar(&o.Summary, "summary", false, "print the numbers of sessions by status")
	return cmd
}

func runWatch(ctx context.Context, o *watchOptions) error {
	filters, err := parseSessionFilters(o.Filter)
	if err != nil {
		return err
	}
	ctx, stop := o.app.whileRead(ctx)
	defer stop()
	c, err := o.app.connectWith(ctx, unbounded)
	if err != nil {
		return err
	}
	defer c.Close()
	p := watchPrinter{options: o, filters: filters, all: sessionlist.New(), printed: map[string]string{}}
	if err := p.printFirst(c); err != nil {
		return err
	}
	var server remote.Server = serverAdapter{client: c.Client}
	if o.AllServers {
		var closeOthers func()
		server, closeOthers = o.app.withNamedServers(server)
		defer closeOthers()
	}
	for s, err := range server.Watch(c.ctx) {
		if err == nil {
			err = p.change(&s)
		}
		if err != nil {
			return c.cause(err)
		}
	}
	return context.Cause(c.ctx)
}

// A watchPrinter prints sessions that change.
type watchPrinter struct {
	options *watchOptions
	filters []sessionFilter
	all     *sessionlist.List
	printed map[string]string // the last line of each session
	counts  string            // the last line of --summary
}

// printFirst prints the sessions that there are.
func (p *watchPrinter) printFirst(c *connection) error {
	list, err := call[protocol.ListResult](c, protocol.DoList, "", protocol.ListData{})
	rows := listed("", list.Sessions)
	if err == nil && p.options.AllServers {
		rows, err = p.options.app.listAllServers(c.ctx, false)
	}
	if err != nil {
		return err
	}
	for i := range rows {
		s := *rows[i].Summary
		if server := rows[i].Server; server != "" && server != p.options.app.homeName() {
			s.Session = server + "/" + s.Session // as serverset names it
		}
		if p.options.Summary {
			p.put(&s)
			continue
		}
		if err := p.change(&s); err != nil {
			return err
		}
	}
	return p.printCounts()
}

// put updates the list. A session that does not meet the conditions is none.
func (p *watchPrinter) put(s *protocol.Summary) {
	if !matchesAll(p.filters, s) {
		s.Deleted = true
	}
	p.all.Put(*s)
}

// change prints a session if its line is new.
func (p *watchPrinter) change(s *protocol.Summary) error {
	p.put(s)
	if p.options.Summary {
		return p.printCounts()
	}
	line := watchLine(s)
	last, known := p.printed[s.Session]
	if line == last || s.Deleted && !known {
		return nil
	}
	p.printed[s.Session] = line
	if s.Deleted {
		delete(p.printed, s.Session)
	}
	return p.options.app.print(s, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s\n", time.Now().Format(time.TimeOnly), line)
	})
}

// printCounts prints the line of --summary if it is new.
func (p *watchPrinter) printCounts() error {
	c := countSessions(p.all)
	if line := fmt.Sprint(c); p.options.Summary && line != p.counts {
		p.counts = line
		return p.options.app.printCounts(c)
	}
	return nil
}

// watchLine returns what a line tells of a session, besides the time.
func watchLine(s *protocol.Summary) string {
	status := string(s.Status)
	switch {
	case s.Deleted:
		status = "gone"
	case s.Status == protocol.Idle && s.Reason != "" && s.Reason != protocol.ReasonCompleted:
		status = string(s.Reason)
	}
	queue := ""
	if s.Queue > 0 {
		queue = fmt.Sprintf("%d queued  ", s.Queue)
	}
	name := cmp.Or(output.OneLine(s.Name, 24), s.Session)
	return strings.TrimRight(fmt.Sprintf("%-24s  %-11s  %s%s", name, status, queue,
		output.OneLine(cmp.Or(s.Doing, s.Title), 60)), " ")
}
