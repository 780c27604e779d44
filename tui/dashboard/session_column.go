package dashboard

import (
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// ColumnLine is a line of the list of sessions beside a session.
type ColumnLine struct {
	Text    string
	Session string // "": the title, a heading or an empty line
}

// Column returns exactly rows lines of the list of sessions beside the session shown: the groups of
// the dashboard, with the state, the server, the name and the age of each session. scroll moves the
// lines away from the session shown; Column returns it within its limits.
func (d *Dashboard) Column(shown string, width, rows, scroll int) ([]ColumnLine, int) {
	out := make([]ColumnLine, rows)
	if rows < 1 {
		return out, 0
	}
	body, at := rows-1, d.list.Index(shown)
	layout := d.listLayout(body)
	layout.each = 1
	layout = layout.spaced(body)
	first := layout.window(max(at, 0), body)
	scroll = max(-first, min(scroll, max(0, layout.lines()-body)-first))
	first += scroll
	out[0].Text = d.columnTitle(width)
	for i := 0; i < body && first+i < layout.lines(); i++ {
		line := layout.at(first + i)
		switch {
		case line.empty:
			continue
		case line.section != nil:
			out[i+1].Text = d.groupHead(line.section, width)
			continue
		}
		s := d.list.At(line.index)
		out[i+1] = ColumnLine{d.columnRow(&s, width, line.index == at), s.Session}
	}
	return out, scroll
}

// columnTitle returns the number of sessions and how many need the user.
func (d *Dashboard) columnTitle(width int) string {
	title := " " + d.Styles.Accent.Bold(true).Render("sessions") + d.Styles.Dim.Render(" "+fmt.Sprint(d.list.Len()))
	if n := d.list.CountWaiting(""); n > 0 {
		title += d.Styles.Warning.Render(fmt.Sprintf(" · %d waiting", n))
	}
	return ui.Fit(title, width)
}

// columnRow returns the line of a session in the column.
func (d *Dashboard) columnRow(s *protocol.Summary, width int, shown bool) string {
	styles := d.Styles
	mark, style, _ := d.sessionStatus(s)
	if d.servers.age(styles, s.Session) != "" {
		style = &styles.Dim
	}
	age := sessionAge(styles.Now(), s)
	r := rowState{selected: shown, nested: d.list.Nested(s.Session)}
	server := d.columnServer(s.Session)
	name := ui.Fit(r.name(s), width-5-ansi.StringWidth(server)-ansi.StringWidth(age))
	if shown {
		return styles.Selected.Render(ui.Spread(r.head()+mark+" "+server+name, age, width-1) + " ")
	}
	left := r.head() + style.Render(mark) + " " + styles.Dim.Render(server) + name
	return ui.Spread(left, styles.Dim.Render(age), width-1)
}

// maxColumnServer is the width of the names of servers in the column, in cells.
const maxColumnServer = 10

// columnServer returns the name of a session's server in the width of all names, and a space. It
// returns "" if there is only one server.
func (d *Dashboard) columnServer(session string) string {
	name := d.servers.of(session)
	if name == "" {
		return ""
	}
	width := 0
	for _, other := range d.servers.names {
		width = max(width, ansi.StringWidth(other))
	}
	width = min(width, maxColumnServer)
	return ui.Pad(ui.Fit(name, width), width) + " "
}

// sessionAge returns how long a request has been waiting, or the time since the last activity, in
// its largest unit.
func sessionAge(now time.Time, s *protocol.Summary) string {
	since := s.Updated
	if s.Status == protocol.Waiting && s.Asked != nil {
		since = *s.Asked
	}
	switch age := now.Sub(since); {
	case since.IsZero():
		return ""
	case age < time.Minute:
		return "now"
	case age < time.Hour:
		return fmt.Sprintf("%dm", age/time.Minute)
	case age < 24*time.Hour:
		return fmt.Sprintf("%dh", age/time.Hour)
	default:
		return fmt.Sprintf("%dd", age/(24*time.Hour))
	}
}

// Neighbour returns the session a number of rows from another one in the list, or "".
func (d *Dashboard) Neighbour(session string, by int) string {
	at := d.list.Index(session)
	if at < 0 || at+by < 0 || at+by >= d.list.Len() {
		return ""
	}
	return d.list.At(at + by).Session
}
