package dashboard

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Widths, in cells, from which a row has more columns.
const (
	mediumWidth = 60
	wideWidth   = 100
)

// sessionRow returns the line of a session: mark, name, agent and activity; on the right, queue,
// context usage, status and time.
func sessionRow(styles *ui.Styles, s *protocol.Summary, width int, selected bool) string {
	mark, style, status := sessionStatus(styles, s)
	name := ui.Pad(sessionName(s), max(min(width/4, 28), 14))
	activity := ui.OneLine(transcript.Clean(cmp.Or(s.Doing, s.Title)))
	var agent, right string
	switch {
	case width < mediumWidth:
		queue := ""
		if s.Queue > 0 {
			queue = fmt.Sprintf("+%d", s.Queue)
		}
		right = queue + " " + sessionTime(styles, s)
	case width < wideWidth:
		agent = ui.Pad(describe.Agent(s.Agent), width/8) + " "
		percent := ""
		if s.Percent > 0 {
			percent = ui.Percent(s.Percent)
		}
		columns := []string{queueText(s), percent, status, sessionTime(styles, s)}
		right = strings.Join(slices.DeleteFunc(columns, func(c string) bool { return c == "" }), " ")
	default:
		agent = ui.Pad(describe.Agent(s.Agent), min(width/8, 16)) + " "
		usage := ""
		if s.Percent > 0 {
			usage = styles.ContextBar(s.Percent, 5)
		}
		right = ui.Pad(queueText(s), 8) + " " + ui.Pad(usage, 10) + " " + ui.Pad(status, 12) + " " +
			ui.PadLeft(sessionTime(styles, s), 6)
	}
	right = strings.TrimLeft(right, " ")
	if selected {
		return styles.Selected.Render(ui.Spread("▸"+mark+" "+name+" "+agent+activity, right, width))
	}
	left := " " + style.Render(mark) + " " + styles.Bold.Render(name) + " " + styles.Dim.Render(agent) + activity
	return ui.Spread(left, style.Render(right), width)
}

// sessionStatus returns the mark of a session, the style of the mark, and the status text.
func sessionStatus(styles *ui.Styles, s *protocol.Summary) (mark string, style *lipgloss.Style, status string) {
	switch {
	case s.Status == protocol.Waiting && s.Approvals > 1:
		return "?", &styles.Warning, ui.Count(s.Approvals, "approval")
	case s.Status == protocol.Waiting:
		return "?", &styles.Warning, "approval"
	case s.Status == protocol.Running:
		return "▸", &styles.Success, "running"
	case s.Status == protocol.Closed:
		return "×", &styles.Dim, "closed"
	case s.Held && s.Queue > 0:
		return "‖", &styles.Warning, "held"
	}
	if end := (protocol.TurnEndedData{Reason: s.Reason}); s.Reason != "" && end.Failed() {
		return "✗", &styles.Error, ui.OneLine(transcript.Clean(string(s.Reason)))
	}
	return "·", &styles.Dim, "idle"
}

// sessionTime returns the age of a pending request, or the time of the last activity.
func sessionTime(styles *ui.Styles, s *protocol.Summary) string {
	if s.Status == protocol.Waiting && s.Asked != nil {
		return ui.Duration(max(styles.Now().Sub(*s.Asked), 0).Truncate(time.Second))
	}
	at, now := s.Updated.In(styles.Zone), styles.Now().In(styles.Zone)
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return at.Format("Jan 2")
	}
	return styles.Clock(at)
}
