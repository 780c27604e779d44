package sessions

import (
	"fmt"
	"io"
	"strings"

	"agentctl/internal/cli/sessiontable"
	"agentctl/internal/output"
	"agentctl/tui/sessionlist"
)

// A sessionCount counts sessions by what they need. Each is counted once, a sub-agent only while it runs.
type sessionCount struct {
	Waiting int `json:"waiting"` // for a decision, or with held messages
	Failed  int `json:"failed"`  // in the last turn
	Running int `json:"running"`
	Idle    int `json:"idle"`
}

// countSessions counts the sessions of a list in the groups of the dashboard.
func countSessions(l *sessionlist.List) (c sessionCount) {
	for _, section := range l.Sections() {
		switch section.Group {
		case sessionlist.NeedsYou:
			c.Waiting += section.Count
		case sessionlist.Failed:
			c.Failed += section.Count
		case sessionlist.Running:
			c.Running += section.Count
		case sessionlist.Unread, sessionlist.Idle:
			c.Idle += section.Count
		}
	}
	return c
}

// put adds or replaces a session of a list of one or several servers.
func put(l *sessionlist.List, s *sessiontable.Row) {
	summary := *s.Summary
	if s.Server != "" {
		summary.Session = s.Server + "/" + summary.Session
	}
	if summary.SubAgent { // its requests are its parent's
		summary.Deleted = summary.Turn == ""
		summary.Parent = ""
	}
	l.Put(summary)
}

// String returns the counts for a status bar, the most urgent first; idle sessions only if there
// are no others.
func (c sessionCount) String() string {
	var parts []string
	add := func(n int, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	add(c.Waiting, "waiting")
	add(c.Failed, "failed")
	add(c.Running, "running")
	if len(parts) == 0 {
		add(c.Idle, "idle")
	}
	if len(parts) == 0 {
		return "no sessions"
	}
	return strings.Join(parts, ", ")
}

func printCounts(p output.Printer, c sessionCount) error {
	return p.Print(c, func(w io.Writer) { fmt.Fprintln(w, c) })
}
