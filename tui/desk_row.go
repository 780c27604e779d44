package tui

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// From these widths on a row has words, and columns.
const (
	wordy    = 60
	columned = 100
)

// row is a session in one line: its mark, name and agent, what it does, and at
// the right its queue, context, status and when something happened last.
func (d *desk) row(s *protocol.Summary, width int, chosen bool) string {
	l := d.look
	mark, style, status := d.standing(s)
	name := pad(callOf(s), max(min(width/4, 28), 14))
	about := oneLine(transcript.Clean(cmp.Or(s.Doing, s.Title)))
	var agent, right string
	switch {
	case width < wordy:
		right = queueMark(s) + " " + d.since(s)
	case width < columned:
		agent = pad(agentOf(s.Agent), width/8) + " "
		right = strings.Join(notEmpty(queueOf(s), percentOf(s), status, d.since(s)), " ")
	default:
		agent = pad(agentOf(s.Agent), min(width/8, 16)) + " "
		context := ""
		if s.Percent > 0 {
			context = l.gauge(s.Percent, 5)
		}
		right = pad(queueOf(s), 8) + " " + pad(context, 10) + " " + pad(status, 12) + " " + padLeft(d.since(s), 6)
	}
	right = strings.TrimLeft(right, " ")
	if chosen {
		return l.chosen.Render(spread("▸"+mark+" "+name+" "+agent+about, right, width))
	}
	return spread(" "+style.Render(mark)+" "+l.bold.Render(name)+" "+l.dim.Render(agent)+about, style.Render(right), width)
}

// agentOf is an agent in a word: of an ad hoc one the program or file, without
// its directory.
func agentOf(agent string) string {
	name := oneLine(transcript.Clean(agent))
	if _, command, ok := strings.Cut(name, ":"); ok {
		name, _, _ = strings.Cut(strings.TrimSpace(command), " ")
		name = name[strings.LastIndexAny(name, `/\`)+1:]
	}
	return name
}

// standing is how a session stands: its mark, how that is dressed, and in a word.
func (d *desk) standing(s *protocol.Summary) (mark string, style *lipgloss.Style, status string) {
	l := d.look
	switch {
	case s.Status == protocol.Waiting && s.Approvals > 1:
		return "?", &l.warn, count(s.Approvals, "approval")
	case s.Status == protocol.Waiting:
		return "?", &l.warn, "approval"
	case s.Status == protocol.Running:
		return "▸", &l.good, "running"
	case s.Status == protocol.Closed:
		return "×", &l.dim, "closed"
	case s.Held && s.Queue > 0:
		return "‖", &l.warn, "held"
	}
	if end := (protocol.TurnEndedData{Reason: s.Reason}); s.Reason != "" && end.Failed() {
		return "✗", &l.bad, oneLine(transcript.Clean(string(s.Reason)))
	}
	return "·", &l.dim, "idle"
}

// since is how long a session has been waiting for a person, or when something
// happened in it last.
func (d *desk) since(s *protocol.Summary) string {
	if s.Status == protocol.Waiting && s.Asked != nil {
		return took(max(d.now().Sub(*s.Asked), 0).Truncate(time.Second))
	}
	at, now := s.Updated.In(d.look.zone), d.now().In(d.look.zone)
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		return at.Format("Jan 2")
	}
	return d.look.clock(at)
}

func percentOf(s *protocol.Summary) string {
	if s.Percent <= 0 {
		return ""
	}
	return percentText(s.Percent)
}

// queueMark is queueOf where there is little room.
func queueMark(s *protocol.Summary) string {
	if s.Queue == 0 {
		return ""
	}
	return fmt.Sprintf("+%d", s.Queue)
}

// notEmpty are the words that are not empty.
func notEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// pad is text in exactly width cells.
func pad(s string, width int) string {
	s = fit(s, width)
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// padLeft is text in at least width cells, at their right end.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}
