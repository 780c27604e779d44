package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	sessionlist.Family
	selected bool
	marked   bool
	stale    string // age of the row if its server is not connected, else ""
}

// sessionRow returns the line of a session.
func (t *table) sessionRow(s *protocol.Summary, c *columns, r rowState) string {
	styles := t.styles
	mark, style, _ := t.status(s)
	if r.stale != "" {
		style = &styles.Dim
	}
	queue := ""
	if s.Queue > 0 {
		queue = fmt.Sprintf("+%d", s.Queue)
	}
	name, title := r.title(s, c[nameColumn])
	cells := [columnCount]string{
		serverColumn: t.servers.of(s.Session), nameColumn: name + title, activityColumn: t.activity(s, r.stale),
		agentColumn: describe.Agent(s.Agent), directoryColumn: t.directory(s, c[directoryColumn]),
		branchColumn: t.branches.of(s.Session), queueColumn: queue,
		tokensColumn: tokensText(s.Tokens), costColumn: costText(s), timeColumn: sessionAge(styles, s),
	}
	if r.selected {
		plain := c.line(&cells, func(_ column, cell string) string { return cell })
		return styles.Selected.Render(r.head() + mark + " " + plain)
	}
	head := styles.Accent.Render(r.head()) + style.Render(mark) + " "
	return head + c.line(&cells, func(col column, cell string) string {
		switch {
		case r.stale != "":
			return styles.Dim.Render(cell)
		case col == timeColumn && s.Status == protocol.Waiting:
			return style.Render(cell)
		case col == nameColumn:
			return styles.Bold.Render(name) + styles.Dim.Render(strings.TrimPrefix(cell, name))
		case col == activityColumn:
			return cell
		}
		return styles.Dim.Render(cell)
	})
}

// shownElsewhere lists the statuses that the headings of the groups, or the marks, show completely.
var shownElsewhere = []string{"approval", "running", "finished", "idle", "closed"}

// sessionItem returns the two lines of a session on a narrow screen.
func (t *table) sessionItem(s *protocol.Summary, width int, r rowState) [2]string {
	styles := t.styles
	mark, style, _ := t.status(s)
	right := sessionAge(styles, s)
	if s.Queue > 0 {
		right = fmt.Sprintf("+%d ", s.Queue) + right
	}
	bold, plain := &styles.Bold, &styles.Plain
	if r.stale != "" {
		style, bold, plain = &styles.Dim, &styles.Dim, &styles.Dim
	}
	about := t.activity(s, r.stale)
	if server := t.servers.of(s.Session); server != "" {
		about = server + ui.Prefixed(keymap.Separator, about)
	}
	second := plain.Render(ui.Fit("   "+about, width))
	name, title := r.title(s, width-markWidth-transcript.Width(right)-1)
	if r.selected {
		return [2]string{styles.Selected.Render(ui.Spread(r.head()+mark+" "+name+title, right, width)), second}
	}
	left := styles.Accent.Render(r.head()) + style.Render(mark) + " " + bold.Render(name) + styles.Dim.Render(title)
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
	name := sessionName(s)
	if s.Pinned() {
		name = "◆ " + name
	}
	if r.Nested {
		name = "└ " + name
	}
	return name
}

// childrenText returns the number of children and how many wait, or "". A plus sign says that they are
// hidden.
func (r *rowState) childrenText() string {
	if r.Children == 0 {
		return ""
	}
	text := fmt.Sprint(r.Children)
	if r.Collapsed {
		text = "+" + text
	}
	if r.Waiting > 0 {
		text += fmt.Sprintf(", %d waiting", r.Waiting)
	}
	return " (" + text + ")"
}

// title returns the name of the session with the number of its children, and the title beside it if
// there is room, both in width cells.
func (r *rowState) title(s *protocol.Summary, width int) (name, title string) {
	count := r.childrenText()
	name = ui.Fit(r.name(s), width-len(count)) + count
	room := width - transcript.Width(name) - 1
	if s.Name == "" || s.Title == "" || room < minTitle {
		return name, ""
	}
	return name, " " + ui.Fit(ui.Excerpt(s.Title), room)
}

// minTitle is the number of cells below which a title is left out.
const minTitle = 4

// emphasis removes the marks of strong text and code from a line of Markdown.
var emphasis = strings.NewReplacer("**", "", "`", "")

// activity returns one line: what the session asks or does, why it failed, or the last line of the
// agent's output. What the mark does not show completely comes first, such as the age of a row whose
// server is not connected.
func (t *table) activity(s *protocol.Summary, stale string) string {
	_, _, status := t.status(s)
	about := cmp.Or(s.Doing, emphasis.Replace(s.Output))
	switch {
	case stale != "":
		status = stale
	case slices.Contains(shownElsewhere, status):
		status = ""
	case t.list.GroupOf(s.Session) == sessionlist.Failed && s.Reason != protocol.ReasonLimited && s.Error != "":
		status, about = "", s.Error
	}
	about = ui.Excerpt(about)
	if status == "" {
		return about
	}
	return status + ui.Prefixed(keymap.Separator, about)
}

// directory returns the session's directory in at most width cells, with ~ for the user's home
// directory on the home server.
func (t *table) directory(s *protocol.Summary, width int) string {
	dir := ui.Excerpt(s.CWD)
	if t.servers.other(s.Session) == "" {
		dir = t.homePath(dir)
	}
	return fitMiddle(dir, width)
}

// homePath returns a path with ~ for the user's home directory on the home server.
func (t *table) homePath(path string) string {
	rest, ok := strings.CutPrefix(path, t.home)
	if ok && t.home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
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
	return ui.Excerpt(fmt.Sprintf("%.2f%s", s.Cost, s.Currency))
}

// status returns the mark of a session, the style of the mark, and the status text.
func (t *table) status(s *protocol.Summary) (mark string, style *ui.Style, status string) {
	styles := t.styles
	switch {
	case t.list.GroupOf(s.Session) == sessionlist.Unread:
		return "•", &styles.Bold, "finished"
	case s.Status == protocol.Waiting && s.Approvals > 1:
		return "?", &styles.Warning, format.Count(s.Approvals, "approval")
	case s.Status == protocol.Waiting:
		return "?", &styles.Warning, "approval"
	case s.Status == protocol.Running:
		return "▸", &styles.Accent, "running"
	case s.Status == protocol.Closed:
		return "×", &styles.Dim, "closed"
	case s.Reason == protocol.ReasonLimited && s.Scheduled != nil:
		return "‖", &styles.Warning, "limited, " + format.Age(max(s.Scheduled.Sub(styles.Now()), 0)) + " left"
	case s.Reason == protocol.ReasonLimited && s.ResetsAt != nil && s.ResetsAt.After(styles.Now()):
		return "‖", &styles.Warning, "limited, " + format.Age(s.ResetsAt.Sub(styles.Now())) + " left"
	case s.Reason == protocol.ReasonLimited:
		return "‖", &styles.Warning, "limited"
	case s.Held && s.Queue > 0:
		return "‖", &styles.Warning, "held"
	}
	if end := (protocol.TurnEndedData{Reason: s.Reason}); s.Reason != "" && end.Failed() {
		return "✗", &styles.Error, ui.Excerpt(string(s.Reason))
	}
	return "·", &styles.Dim, "idle"
}

// sessionAge returns how long a request has been pending, or a tool or turn has been running, or how
// long ago the session was last active.
func sessionAge(styles *ui.Styles, s *protocol.Summary) string {
	since := &s.Updated
	switch {
	case s.Status == protocol.Waiting && s.Asked != nil:
		since = s.Asked
	case s.Status == protocol.Running && s.Since != nil:
		since = s.Since
	}
	return format.Age(styles.Now().Sub(*since))
}
