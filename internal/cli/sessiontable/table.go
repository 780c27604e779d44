package sessiontable

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"agentctl/internal/exit"
	"agentctl/internal/format"
	"agentctl/internal/output"
	"agentctl/internal/worktree"
	"agentctl/protocol"
	"agentctl/server/policy"
)

// A column of the table of sessions.
type column struct {
	name  string
	value func(s *Row, now time.Time) string
}

var columns = []column{
	{"session", func(s *Row, _ time.Time) string { return s.Session }},
	{"server", func(s *Row, _ time.Time) string { return cmp.Or(s.Server, "-") }},
	{"parent", func(s *Row, _ time.Time) string { return cmp.Or(s.Parent, "-") }},
	{"name", func(s *Row, _ time.Time) string { return output.Cell(s.Name, 24) }},
	{"status", func(s *Row, _ time.Time) string { return string(s.Status) }},
	{"agent", func(s *Row, _ time.Time) string { return output.Cell(s.Agent, 16) }},
	{"policy", func(s *Row, _ time.Time) string { return output.Cell(s.Policy, 24) }},
	{"sandbox", func(s *Row, _ time.Time) string { return s.Sandbox.String() }},
	{"queue", func(s *Row, _ time.Time) string {
		if s.Held {
			return fmt.Sprintf("%d held", s.Queue)
		}
		return fmt.Sprint(s.Queue)
	}},
	{"asks", func(s *Row, _ time.Time) string { return fmt.Sprint(s.Approvals) }},
	{"active", func(s *Row, now time.Time) string { return format.Age(now.Sub(s.Updated)) }},
	{"about", func(s *Row, _ time.Time) string {
		return output.OneLine(cmp.Or(s.Doing, s.Error, s.Title, s.Output), 48)
	}},
	{"title", func(s *Row, _ time.Time) string { return output.Cell(s.Title, 48) }},
	{"output", func(s *Row, _ time.Time) string { return output.Cell(s.Output, 48) }},
	{"dir", func(s *Row, _ time.Time) string { return output.Cell(s.CWD, 0) }},
	{worktree.Label, func(s *Row, _ time.Time) string {
		return output.Cell(cmp.Or(s.Labels[worktree.Label], "-"), 32)
	}},
	{"labels", func(s *Row, _ time.Time) string {
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
			pairs = append(pairs, strings.TrimSuffix(key+"="+s.Labels[key], "="))
		}
		return output.Cell(strings.Join(pairs, ","), 48)
	}},
	{"turns", func(s *Row, _ time.Time) string { return fmt.Sprint(s.Turns) }},
	{"tokens", func(s *Row, _ time.Time) string { return fmt.Sprint(s.Tokens) }},
	{"cost", func(s *Row, _ time.Time) string {
		if s.Cost == 0 {
			return "-"
		}
		return fmt.Sprintf("%.2f %s", s.Cost, output.OneLine(s.Currency, 8))
	}},
	{columnTurn, func(s *Row, now time.Time) string {
		if s.TurnStarted == nil {
			return "-"
		}
		return format.Age(now.Sub(*s.TurnStarted))
	}},
	{ColumnRate, func(s *Row, _ time.Time) string { return RateText(s.TokenRate) }},
	{columnLag, func(s *Row, _ time.Time) string {
		if s.LagBytes <= 0 {
			return "-"
		}
		return fmt.Sprintf("%dK", (s.LagBytes+1023)>>10)
	}},
	{"clients", func(s *Row, _ time.Time) string { return fmt.Sprint(s.Clients) }},
	{"seq", func(s *Row, _ time.Time) string { return fmt.Sprint(s.Seq) }},
	{"created", func(s *Row, now time.Time) string { return format.Age(now.Sub(s.Created)) }},
}

// ColumnNames returns the names of all columns, in their order.
func ColumnNames() []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// CheckColumns returns a usage error if a name is not one of a column, in any case of letters.
func CheckColumns(names []string) error {
	for _, name := range names {
		if !slices.Contains(ColumnNames(), strings.ToLower(name)) {
			return exit.Usagef("no column %q: want %s", name, strings.Join(ColumnNames(), ", "))
		}
	}
	return nil
}

// defaultColumns returns the columns of a table without --columns. Server and parent are shown only
// where a session has one, policies where one decides in place of a user, sandboxes where one confines.
func defaultColumns(rows []Row) []string {
	names := []string{"session"}
	if slices.ContainsFunc(rows, func(s Row) bool { return s.Server != "" }) {
		names = append(names, "server")
	}
	if slices.ContainsFunc(rows, func(s Row) bool { return s.Parent != "" }) {
		names = append(names, "parent")
	}
	names = append(names, "name", "status", "agent")
	if slices.ContainsFunc(rows, func(s Row) bool { return decides(s.Policy) }) {
		names = append(names, "policy")
	}
	if slices.ContainsFunc(rows, func(s Row) bool { return s.Sandbox.Shown() }) {
		names = append(names, "sandbox")
	}
	return append(names, "queue", "asks", "active", "about")
}

// WriteTable writes a table of sessions; without names, of the default columns.
func WriteTable(w io.Writer, rows []Row, names []string, header bool, now time.Time) {
	if len(names) == 0 {
		names = defaultColumns(rows)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	defer func() { _ = t.Flush() }() // w keeps its error
	if header && len(rows) > 0 {
		fmt.Fprintln(t, strings.ToUpper(strings.Join(names, "\t")))
	}
	for i := range rows {
		fmt.Fprintln(t, strings.Join(rows[i].Cells(names, now), "\t"))
	}
}

// Cells returns the texts of the named columns.
func (s *Row) Cells(names []string, now time.Time) []string {
	cells := make([]string, len(names))
	for i, name := range names {
		at := slices.IndexFunc(columns, func(c column) bool { return c.name == strings.ToLower(name) })
		cells[i] = columns[at].value(s, now)
	}
	return cells
}

// RateText returns tokens per second as text.
func RateText(rate float64) string {
	switch {
	case rate <= 0:
		return "-"
	case rate < 10:
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}

// decides reports whether a policy may answer a request in place of a user.
func decides(name string) bool { return name != "" && name != string(policy.Ask) }

// WriteSessions writes a table with one line per session.
func WriteSessions(w io.Writer, sessions []protocol.Summary, now time.Time) {
	WriteTable(w, Rows(sessions), nil, true, now)
}

// A Row is a session of a list.
type Row struct {
	Server   string `json:"server,omitempty"`   // its name, in a list of several servers
	Archived bool   `json:"archived,omitempty"` // it has the label archived

	*protocol.Summary
	Detail
}

// NewRow returns the row of a session. It keeps the summary.
func NewRow(s *protocol.Summary) Row { return Row{Archived: s.Archived(), Summary: s} }

// Rows returns the rows of sessions. They keep the summaries.
func Rows(sessions []protocol.Summary) []Row {
	rows := make([]Row, len(sessions))
	for i := range sessions {
		rows[i] = NewRow(&sessions[i])
	}
	return rows
}
