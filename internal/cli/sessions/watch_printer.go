package sessions

import (
	"cmp"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/cli/connection"
	"agentctl/internal/cli/sessiontable"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/sessionlist"
)

// A watchPrinter prints sessions that change.
type watchPrinter struct {
	options *watchOptions
	all     *sessionlist.List
	printed map[string]*printedSession
	counts  string // the last line of --summary
	widths  []int  // of the widest cells so far, by column
}

// A printedSession is a session of which a line was printed.
type printedSession struct {
	summary protocol.Summary
	line    string
	rate    tokenRate
}

func newWatchPrinter(o *watchOptions) *watchPrinter {
	return &watchPrinter{
		options: o, all: sessionlist.New(), printed: map[string]*printedSession{},
		widths: make([]int, len(o.Columns)),
	}
}

// printFirst prints the sessions that exist.
func (p *watchPrinter) printFirst(c *connection.Conn) error {
	cli, r := p.options.CLI, listRequest{detail: sessiontable.HasDetail(p.options.Columns)}
	var rows []sessiontable.Row
	var err error
	if p.options.AllServers {
		rows, err = listAllServers(c.Context(), cli, r)
	} else {
		rows, err = r.do(c.Context(), c.Client)
	}
	if err != nil {
		return c.Cause(err)
	}
	for i := range rows {
		row := &rows[i]
		if row.Server != "" && row.Server != cli.HomeName() {
			row.Session = row.Server + "/" + row.Session // as serverset names it
		}
		row.Server = ""
		if !p.put(row.Summary) || p.options.Summary {
			continue
		}
		if err := p.print(row); err != nil {
			return err
		}
	}
	return p.printCounts()
}

// put updates the list, and reports whether the session has changed since it was printed. It marks
// a session that does not meet the conditions as deleted.
func (p *watchPrinter) put(s *protocol.Summary) (changed bool) {
	if !matchesAll(p.options.filters, s) {
		s.Deleted = true
	}
	p.all.Put(*s)
	last := p.printed[s.Session]
	return last == nil || !reflect.DeepEqual(last.summary, *s)
}

// print prints a session if its line is new, or the line of --summary.
func (p *watchPrinter) print(s *sessiontable.Row) error {
	if p.options.Summary {
		return p.printCounts()
	}
	last := p.printed[s.Session]
	switch {
	case s.Deleted && last == nil:
		return nil
	case s.Deleted:
		delete(p.printed, s.Session)
	case last == nil:
		last = &printedSession{}
		p.printed[s.Session] = last
	}
	now := time.Now()
	if sessiontable.HasColumn(p.options.Columns, sessiontable.ColumnRate) {
		s.TokenRate = last.rate.add(s.Tokens, now)
	}
	line := p.line(s, now)
	last.summary = *s.Summary
	if line == last.line {
		return nil
	}
	last.line = line
	return p.options.CLI.Out.Print(s, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s\n", now.Format(time.TimeOnly), line)
	})
}

// line returns the line of a session without the time. Columns are as wide as the widest cell so
// far; a deleted session has none.
func (p *watchPrinter) line(s *sessiontable.Row, now time.Time) string {
	if len(p.options.Columns) == 0 || s.Deleted {
		return watchLine(s.Summary)
	}
	cells := s.Cells(p.options.Columns, now)
	for i, cell := range cells {
		width := ansi.StringWidth(cell)
		p.widths[i] = max(p.widths[i], width)
		cells[i] = cell + strings.Repeat(" ", p.widths[i]-width)
	}
	return strings.TrimRight(strings.Join(cells, "  "), " ")
}

// printCounts prints the line of --summary if it is new.
func (p *watchPrinter) printCounts() error {
	c := countSessions(p.all)
	if line := fmt.Sprint(c); p.options.Summary && line != p.counts {
		p.counts = line
		return printCounts(p.options.CLI.Out, c)
	}
	return nil
}

// watchLine returns the line of a session without columns.
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

// tokenWindow is the time over which tokens per second are counted. Agents report tokens at the
// ends of requests, so a shorter one would jump.
const tokenWindow = 30 * time.Second

// A tokenCount is the number of a session's tokens since a time.
type tokenCount struct {
	since  time.Time
	tokens int64
}

// A tokenRate counts the tokens of one session in the window. It holds the changes in the window,
// and the one before them. The zero tokenRate has no tokens yet.
type tokenRate []tokenCount

// add sets the number of tokens and returns the tokens per second. Calls are in the order of time.
func (r *tokenRate) add(tokens int64, now time.Time) float64 {
	counts := *r
	if n := len(counts); n == 0 || counts[n-1].tokens != tokens {
		counts = append(counts, tokenCount{now, tokens})
	}
	begin := now.Add(-tokenWindow)
	for len(counts) > 1 && !counts[1].since.After(begin) {
		counts = counts[1:]
	}
	*r = counts
	first := counts[0]
	if first.since.Before(begin) {
		first.since = begin
	}
	elapsed := now.Sub(first.since).Seconds()
	if elapsed <= 0 || tokens <= first.tokens {
		return 0
	}
	return float64(tokens-first.tokens) / elapsed
}
