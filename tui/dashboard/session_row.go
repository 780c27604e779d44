package dashboard

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionlist"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// rowState is what a row shows beside the session.
type rowState struct {
	selected bool
	marked   bool
	children int    // number of sessions that the session's agent created
	hidden   bool   // the children are hidden
	nested   bool   // the session is below its parent
	stale    string // age of the row if its server is not connected, else ""
}

// sessionRow returns the line of a session.
func (t *table) sessionRow(s *protocol.Summary, c *columns, r rowState) string {
	styles := t.styles
	mark, style, status := t.status(s)
	if r.stale != "" {
		style, status = &styles.Dim, r.stale
	}
	name := r.name(s)
	if count := r.childrenText(); count != "" {
		name = ui.Fit(name, c[nameColumn]-len(count)) + count
	}
	queue := ""
	if s.Queue > 0 {
		queue = fmt.Sprintf("+%d", s.Queue)
	}
	activity := sessionActivity(s)
	if c[statusColumn] == 0 && !headingTells(status) {
		activity = status + ui.Prefixed(keymap.Separator, activity)
	}
	cells := [columnCount]string{
		serverColumn: t.servers.of(s.Session),
		statusColumn: status, nameColumn: name, agentColumn: describe.Agent(s.Agent),
		directoryColumn: t.directory(s, c[directoryColumn]), branchColumn: t.branches.of(s.Session),
		activityColumn: activity, queueColumn: queue,
		tokensColumn: tokensText(s.Tokens), costColumn: costText(s), timeColumn: sessionTime(styles, s),
	}
	if r.selected {
		plain := c.line(&cells, func(_ column, cell string) string { return cell })
		return styles.Selected.Render(r.head() + mark + " " + plain)
	}
	head := styles.Warning.Render(r.head()) + style.Render(mark) + " "
	return head + c.line(&cells, func(col column, cell string) string {
		switch {
		case r.stale != "":
			return styles.Dim.Render(cell)
		case col == statusColumn || col == timeColumn && s.Status == protocol.Waiting:
			return style.Render(cell)
		case col == nameColumn:
			return styles.Bold.Render(cell)
		case col == activityColumn:
			return cell
		}
		return styles.Dim.Render(cell)
	})
}

// headingTells reports whether the headings of the groups, or the marks, show a status completely.
func headingTells(status string) bool {
	switch status {
	case "approval", "running", "finished", "idle", "closed":
		return true
	}
	return false
}

// sessionItem returns the two lines of a session on a narrow screen.
func (t *table) sessionItem(s *protocol.Summary, width int, r rowState) [2]string {
	styles := t.styles
	mark, style, status := t.status(s)
	right := sessionTime(styles, s)
	if s.Queue > 0 {
		right = fmt.Sprintf("+%d ", s.Queue) + right
	}
	name, bold := r.name(s)+r.childrenText(), &styles.Bold
	if r.stale != "" {
		style, bold, status = &styles.Dim, &styles.Dim, r.stale
	}
	parts := status
	if server := t.servers.of(s.Session); server != "" {
		parts = server + " · " + parts
	}
	if activity := sessionActivity(s); activity != "" {
		parts += " · " + activity
	}
	second := styles.Dim.Render(ui.Fit("   "+parts, width))
	if r.selected {
		return [2]string{styles.Selected.Render(ui.Spread(r.head()+mark+" "+name, right, width)), second}
	}
	left := styles.Warning.Render(r.head()) + style.Render(mark) + " " + bold.Render(name)
	if s.Status != protocol.Waiting {
		style = &styles.Dim
	}
	return [2]string{ui.Spread(left, style.Render(right), width), second}
}

// head returns the first cell of a row.
func (r *rowState) head() string {
	switch {
	case r.marked:
		return "*"
	case r.selected:
		return "▸"
	}
	return " "
}

// name returns the name of the session, indented if it is nested.
func (r *rowState) name(s *protocol.Summary) string {
	if r.nested {
		return "└ " + sessionName(s)
	}
	return sessionName(s)
}

// childrenText returns the number of children, or "". A plus sign says that they are hidden.
func (r *rowState) childrenText() string {
	switch {
	case r.children == 0:
		return ""
	case r.hidden:
		return fmt.Sprintf(" (+%d)", r.children)
	}
	return fmt.Sprintf(" (%d)", r.children)
}

// sessionActivity returns one line: what the session does, else the last line of the agent's
// output, else the title.
func sessionActivity(s *protocol.Summary) string {
	return format.JoinLines(transcript.Clean(cmp.Or(s.Doing, s.Output, s.Title)))
}

// directory returns the session's directory in at most width cells, with ~ for the user's home
// directory on the home server.
func (t *table) directory(s *protocol.Summary, width int) string {
	dir := format.JoinLines(transcript.Clean(s.CWD))
	atHome := t.servers.other(s.Session) == ""
	if rest, ok := strings.CutPrefix(dir, t.home); atHome && ok && t.home != "" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	return fitMiddle(dir, width)
}

// tokensText returns a number of tokens in at most 6 cells, or "".
func tokensText(n int64) string {
	if n <= 0 {
		return ""
	}
	return format.Thousands(n)
}

// costText returns the cost of a session, or "". A foreign currency has its code.
func costText(s *protocol.Summary) string {
	switch {
	case s.Cost <= 0:
		return ""
	case s.Currency == "USD" || s.Currency == "":
		return fmt.Sprintf("$%.2f", s.Cost)
	}
	return format.JoinLines(transcript.Clean(fmt.Sprintf("%.2f%s", s.Cost, s.Currency)))
}

// status returns the mark of a session, the style of the mark, and the status text.
func (t *table) status(s *protocol.Summary) (mark string, style *lipgloss.Style, status string) {
	styles := t.styles
	switch {
	case t.list.GroupOf(s.Session) == sessionlist.Unread:
		return "•", &styles.Bold, "finished"
	case s.Status == protocol.Waiting && s.Approvals > 1:
		return "?", &styles.Warning, format.Count(s.Approvals, "approval")
	case s.Status == protocol.Waiting:
		return "?", &styles.Warning, "approval"
	case s.Status == protocol.Running:
		return "▸", &styles.Success, "running"
	case s.Status == protocol.Closed:
		return "×", &styles.Dim, "closed"
	case s.Reason == protocol.ReasonLimited && s.Scheduled != nil:
		return "‖", &styles.Warning, "limited to " + dayOrClock(styles, *s.Scheduled)
	case s.Reason == protocol.ReasonLimited && s.ResetsAt != nil && s.ResetsAt.After(styles.Now()):
		return "‖", &styles.Warning, "limited to " + dayOrClock(styles, *s.ResetsAt)
	case s.Reason == protocol.ReasonLimited:
		return "‖", &styles.Warning, "limited"
	case s.Held && s.Queue > 0:
		return "‖", &styles.Warning, "held"
	}
	if end := (protocol.TurnEndedData{Reason: s.Reason}); s.Reason != "" && end.Failed() {
		return "✗", &styles.Error, format.JoinLines(transcript.Clean(string(s.Reason)))
	}
	return "·", &styles.Dim, "idle"
}

// sessionTime returns the age of a pending request, or the time of the last activity.
func sessionTime(styles *ui.Styles, s *protocol.Summary) string {
	if s.Status == protocol.Waiting && s.Asked != nil {
		return format.Duration(max(styles.Now().Sub(*s.Asked), 0).Truncate(time.Second))
	}
	return dayOrClock(styles, s.Updated)
}

// dayOrClock returns the time of day of a moment, or its day if that is not today.
func dayOrClock(styles *ui.Styles, t time.Time) string {
	at, now := t.In(styles.Zone), styles.Now().In(styles.Zone)
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return at.Format("Jan 2")
	}
	return styles.Clock(at)
}
