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

// Widths from which on a row has words, and columns.
const (
	minWidthStatus  = 60
	minWidthColumns = 100
)

// sessionRow returns a session on a line: its mark, name, agent and activity, and at the right its queue,
// context, status and time.
func sessionRow(l *ui.Styles, s *protocol.Summary, width int, selected bool) string {
	mark, style, status := sessionStatus(l, s)
	name := ui.Pad(sessionName(s), max(min(width/4, 28), 14))
	about := ui.OneLine(transcript.Clean(cmp.Or(s.Doing, s.Title)))
	var agent, right string
	switch {
	case width < minWidthStatus:
		queue := ""
		if s.Queue > 0 {
			queue = fmt.Sprintf("+%d", s.Queue)
		}
		right = queue + " " + sessionTime(l, s)
	case width < minWidthColumns:
		agent = ui.Pad(describe.Agent(s.Agent), width/8) + " "
		percent := ""
		if s.Percent > 0 {
			percent = ui.Percent(s.Percent)
		}
		words := []string{queueText(s), percent, status, sessionTime(l, s)}
		right = strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
	default:
		agent = ui.Pad(describe.Agent(s.Agent), min(width/8, 16)) + " "
		context := ""
		if s.Percent > 0 {
			context = l.ContextBar(s.Percent, 5)
		}
		right = ui.Pad(queueText(s), 8) + " " + ui.Pad(context, 10) + " " + ui.Pad(status, 12) + " " + ui.PadLeft(sessionTime(l, s), 6)
	}
	right = strings.TrimLeft(right, " ")
	if selected {
		return l.Selected.Render(ui.Spread("▸"+mark+" "+name+" "+agent+about, right, width))
	}
	return ui.Spread(" "+style.Render(mark)+" "+l.Bold.Render(name)+" "+l.Dim.Render(agent)+about, style.Render(right), width)
}

// sessionStatus returns the mark of a session, its style, and the status in a word.
func sessionStatus(l *ui.Styles, s *protocol.Summary) (mark string, style *lipgloss.Style, status string) {
	switch {
	case s.Status == protocol.Waiting && s.Approvals > 1:
		return "?", &l.Warning, ui.Count(s.Approvals, "approval")
	case s.Status == protocol.Waiting:
		return "?", &l.Warning, "approval"
	case s.Status == protocol.Running:
		return "▸", &l.Success, "running"
	case s.Status == protocol.Closed:
		return "×", &l.Dim, "closed"
	case s.Held && s.Queue > 0:
		return "‖", &l.Warning, "held"
	}
	if end := (protocol.TurnEndedData{Reason: s.Reason}); s.Reason != "" && end.Failed() {
		return "✗", &l.Error, ui.OneLine(transcript.Clean(string(s.Reason)))
	}
	return "·", &l.Dim, "idle"
}

// sessionTime returns how long a session has waited for a user, or the time of its last activity.
func sessionTime(l *ui.Styles, s *protocol.Summary) string {
	if s.Status == protocol.Waiting && s.Asked != nil {
		return ui.Duration(max(l.Now().Sub(*s.Asked), 0).Truncate(time.Second))
	}
	at, now := s.Updated.In(l.Zone), l.Now().In(l.Zone)
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return at.Format("Jan 2")
	}
	return l.Clock(at)
}
