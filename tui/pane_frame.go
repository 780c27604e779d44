package tui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/split"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// paneFrame draws the sessions side by side. It keeps the lines of each pane, and lays a view out
// again only if it was drawn again. The zero value is empty.
type paneFrame struct {
	panes   map[string]*paneLines // by session
	screen  []string              // titles of the last drawing
	content string                // last drawing
}

// paneLines are the lines of a pane without its title, each of the width of the pane.
type paneLines struct {
	content string // of the view
	area    split.Rect
	lines   []string
	rules   []lineEnds
}

// lineEnds is at which ends of a line a rule meets the border.
type lineEnds struct{ left, right bool }

// resetStyle ends the styles of a line.
const resetStyle = "\x1b[m"

// view returns the screen with all panes and the cursor of the one with the focus.
func (s *panes) view(sessions *openSessions) tea.View {
	f, screen := &s.frame, &s.screen
	v := sessions.shown.view.View()
	if len(screen.Panes) == 1 && !screen.Panes[0].Titled() {
		return v
	}
	if f.panes == nil {
		f.panes = map[string]*paneLines{}
	}
	titles := make([]string, len(screen.Panes))
	changed := false
	for i := range screen.Panes {
		pane := &screen.Panes[i]
		o := sessions.find(pane.Session)
		drawn := v
		if o == sessions.shown {
			if v.Cursor != nil {
				cursor := *v.Cursor
				cursor.X, cursor.Y = cursor.X+pane.Content.X, cursor.Y+pane.Content.Y
				v.Cursor = &cursor
			}
		} else {
			drawn = o.view.View()
		}
		changed = f.update(pane, drawn.Content) || changed
		titles[i] = s.title(pane, o)
	}
	if changed || len(f.panes) != len(screen.Panes) || !slices.Equal(titles, f.screen) {
		maps.DeleteFunc(f.panes, func(session string, _ *paneLines) bool {
			return !slices.ContainsFunc(screen.Panes, func(p split.Pane) bool { return p.Session == session })
		})
		borders := borderStyles{styles: s.styles, drawn: map[borderCell]string{}}
		f.screen, f.content = titles, f.join(screen, titles, s.layout.Focus(), &borders)
	}
	v.Content = f.content
	return v
}

// update lays out the lines of a pane, and reports whether they have changed.
func (f *paneFrame) update(pane *split.Pane, content string) bool {
	last := f.panes[pane.Session]
	if last != nil && last.content == content && last.area == pane.Area {
		return false
	}
	out := &paneLines{content: content, area: pane.Area, lines: make([]string, pane.Content.Height)}
	out.rules = make([]lineEnds, len(out.lines))
	rest, more := content, true
	for i := range out.lines {
		line := ""
		if more {
			line, rest, more = strings.Cut(rest, "\n")
		}
		width := transcript.Width(line)
		out.rules[i] = lineEnds{ui.StartsWithRule(line), width == pane.Area.Width && ui.EndsWithRule(line)}
		if strings.IndexByte(line, '\x1b') >= 0 {
			line += resetStyle
		}
		out.lines[i] = line + strings.Repeat(" ", max(0, pane.Area.Width-width))
	}
	f.panes[pane.Session] = out
	return true
}

// join joins the panes, row by row. The panes of a row are in the order from left to right.
func (f *paneFrame) join(screen *split.Arrangement, titles []string, focus string, borders *borderStyles) string {
	height := 0
	for _, pane := range screen.Panes {
		height = max(height, pane.Area.Y+pane.Area.Height)
	}
	var out strings.Builder
	for y := range height {
		if y > 0 {
			out.WriteByte('\n')
		}
		var left *split.Pane
		for i := range screen.Panes {
			pane := &screen.Panes[i]
			row := y - pane.Area.Y
			if row < 0 || row >= pane.Area.Height {
				continue
			}
			if left != nil {
				focused := left.Session == focus || pane.Session == focus
				above := screen.BorderAt(pane.Area.X-1, y-1)
				top := above == nil || above.Below
				out.WriteString(borders.cell(borderCell{f.rule(left, y).right, f.rule(pane, y).left, top, focused}))
			}
			if row == 0 {
				out.WriteString(titles[i])
			} else {
				out.WriteString(f.panes[pane.Session].lines[row-1])
			}
			left = pane
		}
	}
	return out.String()
}

// rule returns at which ends of a row of the screen a rule of a pane meets the border. The title is
// one.
func (f *paneFrame) rule(pane *split.Pane, y int) lineEnds {
	if row := y - pane.Area.Y; row > 0 {
		return f.panes[pane.Session].rules[row-1]
	}
	return lineEnds{true, true}
}

// borderCell is a cell of a border between two panes.
type borderCell struct {
	left, right bool // a rule meets it
	top         bool // the first cell of the border
	focused     bool // beside the pane with the focus
}

// borderStyles draws the cells of borders.
type borderStyles struct {
	styles *ui.Styles
	drawn  map[borderCell]string
}

func (b *borderStyles) cell(c borderCell) string {
	if out, ok := b.drawn[c]; ok {
		return out
	}
	glyph := "│"
	switch {
	case c.top:
		glyph = "┬"
	case c.left && c.right:
		glyph = "┼"
	case c.left:
		glyph = "┤"
	case c.right:
		glyph = "├"
	}
	style := b.styles.Border
	if c.focused {
		style = b.styles.Accent
	}
	b.drawn[c] = style.Render(glyph)
	return b.drawn[c]
}

// title returns the title of a pane: a line with the name and the state of its session. The title of
// the pane with the focus has the accent colour and a mark.
func (s *panes) title(pane *split.Pane, o *openSession) string {
	styles, state, width := s.styles, o.view.Session().State, pane.Area.Width
	focused := pane.Session == s.layout.Focus()
	line, text, mark := styles.Border, styles.Dim, ""
	if focused {
		line, text, mark = styles.Accent, styles.Accent.Strong(), "▸ "
	}
	name := ui.ShortID(pane.Session)
	if state.Session != "" {
		name = cmp.Or(transcript.CleanLine(remote.SessionName(state)), name)
	}
	status, statusStyle := string(state.Status()), text
	switch {
	case o.view.Session().Conn.State != remote.Connected:
		status, statusStyle = string(o.view.Session().Conn.State), styles.Warning
	case o.deleted:
		status, statusStyle = "deleted", styles.Warning
	case state.Status() == protocol.Waiting:
		status, statusStyle = "? "+status, styles.Warning
	}
	status = ui.Prefixed(keymap.Separator, status) + s.hidden(pane)
	room := width - 4 // the line around the title
	name = ui.Fit(mark+name, max(room-transcript.Width(status), min(room, minTitleName)))
	status = ui.Fit(status, room-transcript.Width(name))
	rest := max(0, room+1-transcript.Width(name)-transcript.Width(status))
	title := line.Render("─ ") + text.Render(name) + statusStyle.Render(status) +
		line.Render(" "+strings.Repeat("─", rest))
	return styles.Frame([]string{title}, width, 1)
}

// minTitleName is the least width of a name in a title, in cells.
const minTitleName = 12

// hidden says that a pane covers others.
func (s *panes) hidden(pane *split.Pane) string {
	l := &s.layout
	if len(s.screen.Panes) > 1 {
		return ""
	}
	all := l.Sessions()
	out := fmt.Sprintf("%s%d of %d", keymap.Separator, slices.Index(all, pane.Session)+1, len(all))
	if l.Zoomed() {
		return out + ui.Prefixed(keymap.Separator, s.styles.Keys.Hint(keymap.ZoomPane, "shows all"))
	}
	return out + ui.Prefixed(keymap.Separator, s.styles.Keys.Hint(keymap.NextPane, "next"))
}
