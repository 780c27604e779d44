package dashboard

import (
	"cmp"
	"fmt"
	"strings"

	"agentctl/internal/format"
	"agentctl/tui/sessionlist"
	"agentctl/tui/ui"
)

// listLayout is the division of the list into lines: a line for the heading of each group, and one
// or two for each session. Finding a line costs the number of groups.
type listLayout struct {
	sections []sessionlist.Section
	sessions int
	each     int // lines of a session
	gap      int // empty lines before each heading but the first
}

// listLine is a line of the list: the heading of a section, an empty line before one, or a line of
// the session at an index.
type listLine struct {
	section *sessionlist.Section // nil: a session, or an empty line
	empty   bool
	index   int
	row     int // line of the session
}

// isSession reports whether the line is one of a session.
func (l *listLine) isSession() bool { return l.section == nil && !l.empty }

// layout divides the list for an area. Empty lines separate the groups if all lines are visible
// with them.
func (t *table) layout(area tableArea) listLayout {
	l := listLayout{sections: t.list.Sections(), sessions: t.list.Len(), each: 1}
	if area.narrow {
		l.each = 2
	}
	return l.spaced(area.bodyRows())
}

// spaced returns the layout with empty lines between the groups if all lines are visible then.
func (l listLayout) spaced(rows int) listLayout {
	l.gap = 1
	if l.lines() > rows {
		l.gap = 0
	}
	return l
}

// lines returns the number of lines.
func (l *listLayout) lines() int {
	return len(l.sections) + l.gap*max(0, len(l.sections)-1) + l.sessions*l.each
}

// lineOf returns the first line of the session at an index.
func (l *listLayout) lineOf(index int) int {
	line := index * l.each
	for i := range l.sections {
		if l.sections[i].First <= index {
			line++
			if i > 0 {
				line += l.gap
			}
		}
	}
	return line
}

// at returns the line n, which must be less than lines.
func (l *listLayout) at(n int) listLine {
	for i := range l.sections {
		s := &l.sections[i]
		if i > 0 {
			if n < l.gap {
				return listLine{empty: true}
			}
			n -= l.gap
		}
		if n == 0 {
			return listLine{section: s}
		}
		n--
		if n < s.Count*l.each {
			return listLine{index: s.First + n/l.each, row: n % l.each}
		}
		n -= s.Count * l.each
	}
	return listLine{index: n / l.each, row: n % l.each}
}

// window returns the first visible line if rows lines are visible, for a selected session.
func (l *listLayout) window(selected, rows int) int {
	return max(0, min(l.lineOf(selected)-rows/2, l.lines()-rows))
}

// sessionRows is the list of the sessions; see [ui.RowMsg].
const sessionRows = "sessions"

// lines returns the title and the rows of the list. empty returns the rows of an empty one.
func (t *table) lines(area tableArea, empty func(width int) []string) []string {
	s, width, rows := t.styles, area.width, area.bodyRows()
	layout, at := t.layout(area), t.selectedIndex()
	first := layout.window(at, rows)
	last := min(layout.lines(), first+rows)
	out := []string{s.Rule(t.title(&layout, first, last, width), width)}
	c := t.columns(area)
	if area.heads {
		heads := columnHeads
		line := c.line(&heads, func(_ column, cell string) string { return cell })
		out = append(out, s.Dim.Render(strings.Repeat(" ", markWidth)+line))
	}
	for n := first; n < last; n++ {
		line := layout.at(n)
		switch {
		case line.empty:
			out = append(out, "")
			continue
		case line.section != nil:
			out = append(out, t.sectionHead(line.section, width))
			continue
		}
		summary := t.list.At(line.index)
		row := rowState{
			selected: line.index == at, marked: t.marked[summary.Session],
			Family: t.list.Family(summary.Session), stale: t.servers.age(s, summary.Session),
		}
		text := ""
		if layout.each == 2 {
			text = t.sessionItem(&summary, width, row)[line.row]
		} else {
			text = t.sessionRow(&summary, &c, row)
		}
		out = append(out, s.Keys.MarkRow(sessionRows, line.index, text))
	}
	if t.list.Len() == 0 {
		out = append(out, empty(width)...)
	}
	for len(out) < area.rows+1 {
		out = append(out, "")
	}
	return out[:max(area.rows+1, 0)]
}

// title returns the title of the list: the sessions on the screen, the number of all, how many need
// the user, the marks, the filter and the order.
func (t *table) title(layout *listLayout, first, last, width int) string {
	s := t.styles
	title := s.Bold.Render("sessions")
	if n := t.list.Len(); n > 0 {
		from, to := 0, 0
		for line := first; line < last; line++ {
			if at := layout.at(line); at.isSession() {
				if from == 0 {
					from = at.index + 1
				}
				to = at.index + 1
			}
		}
		if from > 1 || to < n {
			title += fmt.Sprintf(" %d–%d of", from, to)
		}
		title += fmt.Sprintf(" %d", n)
	} else {
		title += " " + fmt.Sprint(t.list.Total())
	}
	if n := t.list.CountWaiting(""); n > 0 {
		title += " · " + s.Warning.Render(needYou(n))
	}
	if n := len(t.marked); n > 0 {
		title += " · " + s.Accent.Render(fmt.Sprint(n)+" marked")
	}
	if t.filter != "" {
		title += " · " + s.User.Render("filter “"+format.JoinLines(t.filter)+"”")
	}
	if by := t.list.Order(); by != sessionlist.ByNeed || width >= 60 && t.list.Len() > 0 {
		title += s.Dim.Render(" · by " + string(by))
	}
	return title
}

// needYou says how many sessions need the user.
func needYou(n int) string {
	if n == 1 {
		return "1 needs you"
	}
	return fmt.Sprint(n) + " need you"
}

// sectionHead returns the heading of a section.
func (t *table) sectionHead(section *sessionlist.Section, width int) string {
	name, style := strings.ToUpper(section.Group.String()), groupStyle(t.styles, section.Group)
	if by := t.list.Order(); by != sessionlist.ByNeed {
		name, style = cmp.Or(ui.Excerpt(section.Name), "no "+string(by)), t.styles.Bold
		if by == sessionlist.ByProject {
			name = fitMiddle(t.homePath(name), width*2/3)
		}
	}
	return style.Render(ui.Fit(fmt.Sprintf(" %s %d", name, section.Count-section.SubAgents), width))
}

func groupStyle(s *ui.Styles, g sessionlist.Group) ui.Style {
	switch g {
	case sessionlist.NeedsYou:
		return s.Warning.Strong()
	case sessionlist.Failed:
		return s.Error.Strong()
	case sessionlist.Running:
		return s.Accent.Strong()
	case sessionlist.Unread:
		return s.Bold
	}
	return s.Dim
}
