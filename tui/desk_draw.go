package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/sessionlist"
	"agentctl/tui/transcript"
	"agentctl/tui/usage"
)

// beside is from which width on the preview stands beside the list.
const beside = 120

// shape is how the desk divides its screen.
type shape struct {
	width   int // of the list
	rows    int // of the list, without its title
	preview int // rows of the preview
	across  int // its width; 0: it is below the list
	panel   []string
	cursor  *tea.Cursor
	about   bool // there is a line about the chosen session
}

func (d *desk) shape() shape {
	s := shape{width: d.width, rows: d.height - 1} // the title
	if d.height > 1 {
		s.rows-- // the foot
	}
	if s.about = s.rows > 4; s.about {
		s.rows--
	}
	if d.panel != nil {
		s.panel, s.cursor = d.panel.Render(d, d.width, s.rows-min(3, s.rows/2))
		s.rows -= len(s.panel)
	}
	switch {
	case !d.preview.on:
	case d.width >= beside:
		s.across = d.width * 45 / 100
		s.width = d.width - s.across - 1
		s.preview = s.rows + 1
	case s.rows >= 4:
		s.preview = s.rows / 2
		s.rows -= s.preview
	}
	return s
}

func (d *desk) rows() int { return max(1, d.shape().rows-1) }

// top is the place of the first session on the screen.
func (d *desk) top(rows int) int { return max(0, min(d.at()-rows/2, d.list.Len()-rows)) }

func (d *desk) draw() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = "agentctl"
	if n := d.list.CountWaiting(""); n > 0 {
		v.WindowTitle += " · " + fmt.Sprint(n) + " waiting"
	}
	if d.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	if d.pager != nil {
		d.pager.show(&v, d.width, d.height)
		return v
	}
	if d.wire != nil {
		d.wire.show(&v, d.width, d.height)
		return v
	}
	if d.trove != nil {
		d.trove.show(d, &v)
		return v
	}
	s := d.shape()
	lines := d.listed(s.width, s.rows)
	if s.preview > 0 {
		view := d.preview.Render(d, cmp.Or(s.across, d.width), s.preview)
		if s.across == 0 {
			lines = append(lines, view...)
		} else {
			for i := range lines {
				lines[i] = pad(lines[i], s.width) + d.look.dim.Render("│") + view[i]
			}
		}
	}
	if s.about {
		lines = append(lines, d.about())
	}
	above := len(lines)
	lines = append(lines, s.panel...)
	if d.height > 1 {
		lines = append(lines, d.foot())
	}
	v.SetContent(d.look.frame(lines, d.width, d.height))
	if c := s.cursor; c != nil && above+c.Y < d.height && c.X < d.width {
		c.Y += above
		v.Cursor = c
	}
	return v
}

// listed is the list and its title: rows lines and one.
func (d *desk) listed(width, rows int) []string {
	title := d.look.bold.Render("sessions") + " · " + fmt.Sprint(d.list.Total())
	if n := d.list.CountWaiting(""); n > 0 {
		title += " · " + d.look.warn.Render(fmt.Sprint(n)+" waiting for you")
	}
	if d.filter != "" {
		title += " · " + d.look.user.Render("only “"+oneLine(d.filter)+"”")
	}
	if by := d.list.Order(); by != sessionlist.ByNeed || width >= 60 {
		title += d.look.dim.Render(" · by " + string(by))
	}
	out := []string{d.look.rule(title, width)}
	at, first := d.at(), d.top(rows)
	for i := first; i < min(d.list.Len(), first+rows); i++ {
		s := d.list.At(i)
		out = append(out, d.row(&s, width, i == at))
	}
	if d.list.Len() == 0 {
		out = append(out, d.nothing(width)...)
	}
	for len(out) < rows+1 {
		out = append(out, "")
	}
	return out[:max(rows+1, 0)]
}

// nothing says what can be done when there is no session to show.
func (d *desk) nothing(width int) []string {
	keys := d.look.keys
	words := []string{"none with these words", keys.hint(doBack, "shows all")}
	switch {
	case d.lost != "":
		words = []string{"the server does not tell of its sessions: " + d.lost}
	case d.filter != "":
	case d.link.State != Connected:
		words = []string{"waiting for the server …"}
	default:
		words = []string{
			"There is no session yet.", keys.hint(doCreate, "creates one: it asks for an agent, a directory and a first message"),
			"In a shell: agentctl new --agent AGENT --prompt TEXT", keys.hint(doHelp, "lists the keys"),
		}
	}
	var out []string
	for _, w := range words {
		for _, line := range wrap(oneLine(transcript.Clean(w)), width-2) {
			out = append(out, d.look.dim.Render(" "+line))
		}
	}
	return out
}

// foot is the last line: the connection where it is not good, and what is said to
// the person, or the keys.
func (d *desk) foot() string {
	keys := d.look.keys
	var link string
	switch d.link.State {
	case Reconnecting:
		link = string(Reconnecting)
		if wait := d.link.Retry.Sub(d.now()); wait > 0 {
			link += fmt.Sprintf(" in %ds", seconds(wait))
		}
	case Offline:
		link = string(Offline)
		if d.link.Reason != "" {
			link += ": " + d.link.Reason
		}
	case Connecting, Connected:
	}
	if link != "" {
		link = d.look.bad.Render(" ○ " + oneLine(transcript.Clean(link)))
	}
	switch {
	case d.leaving:
		return d.look.warn.Render(fit(" press ctrl+c again to leave; the sessions go on", d.width))
	case d.word != "":
		return fit(link+d.look.warn.Render(" "+oneLine(transcript.Clean(d.word))), d.width)
	case d.lost != "":
		return fit(link+d.look.bad.Render(" "+oneLine(transcript.Clean(d.lost))), d.width)
	}
	if link != "" {
		return fit(link+d.look.dim.Render(prefixed(" · ", keys.hint(doRetry, "tries again now"))+prefixed(" · ", oneLine(transcript.Clean(d.link.Advice)))), d.width)
	}
	if d.panel != nil {
		return d.look.dim.Render(fit(" "+d.panel.hint(d.look), d.width))
	}
	can := keys.hint(doChoose, "open", doNextNeed, "next that needs you", doCreate, "new", doFilter, "filter", doFindAll, "find", doSort, "sort",
		doAllow, "allow", doDeny, "deny", doPreview, "preview", doRename, "rename", doEndSession, "end")
	help := keys.hint(doHelp, "help")
	return d.look.dim.Render(spread(" "+hints(can, d.width-ansi.StringWidth(help)-2), help, d.width))
}

// about is a line about the chosen session: what its row has no room for.
func (d *desk) about() string {
	s, ok := d.current()
	if !ok {
		return ""
	}
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, oneLine(transcript.Clean(part)))
		}
	}
	add(s.Agent)
	if s.Percent > 0 {
		parts = append(parts, "context "+d.look.gauge(s.Percent, 8))
	}
	if s.Queue > 0 {
		add(queueOf(&s))
	}
	add(s.CWD)
	if s.Name != "" {
		add(s.Title)
	}
	if s.Clients > 0 {
		add(count(s.Clients, "client"))
	}
	add(short(s.Session))
	return d.look.dim.Render(fit(" "+strings.Join(parts, " · "), d.width))
}

// gauge is how full a context is: a bar of width cells and the number.
func (l *look) gauge(percent float64, width int) string {
	return usage.Bar(percent/100, width) + " " + percentText(percent)
}

// percentText is a percentage in whole ones; what is not nothing does not show so.
func percentText(percent float64) string {
	if percent > 0 && percent < 0.5 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", percent)
}

// queueOf says how many messages of a session wait.
func queueOf(s *protocol.Summary) string {
	switch {
	case s.Queue == 0:
		return ""
	case s.Held:
		return fmt.Sprintf("+%d held", s.Queue)
	}
	return fmt.Sprintf("+%d", s.Queue)
}
