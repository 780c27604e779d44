package dashboard

import (
	"fmt"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/sessionlist"
	"agentctl/tui/ui"
)

// table shows the list of sessions as rows and columns. It owns the selection, the filter and the
// marks.
type table struct {
	styles   *ui.Styles
	servers  *servers
	branches *branches
	home     string // the user's home directory on the home server, or ""

	list     *sessionlist.List
	selected selection
	filter   string
	marked   map[string]bool
}

// selection identifies the selected session. The index is used when that session was removed.
type selection struct {
	session string
	index   int
}

// tableArea is the place of a table on the screen, in cells.
type tableArea struct {
	width  int
	rows   int  // without the title
	heads  bool // the first row has the headings of the columns
	beside bool // the preview is beside the table
	narrow bool // a session takes two lines
}

// bodyRows returns the number of lines for groups and sessions.
func (a *tableArea) bodyRows() int {
	if a.heads {
		return a.rows - 1
	}
	return a.rows
}

// selectedIndex returns the index of the selected session, or -1 if the list is empty. If the
// session is gone, it returns the index nearest to its last one.
func (t *table) selectedIndex() int {
	if i := t.list.Index(t.selected.session); i >= 0 {
		t.selected.index = i
	}
	return min(t.selected.index, t.list.Len()-1)
}

// current returns the selected session. It returns false if the list is empty.
func (t *table) current() (protocol.Summary, bool) {
	at := t.selectedIndex()
	if at < 0 {
		return protocol.Summary{}, false
	}
	return t.list.At(at), true
}

// move moves the selection by a number of rows, within the list.
func (t *table) move(by int) {
	if n := t.list.Len(); n > 0 {
		i := min(max(t.selectedIndex()+by, 0), n-1)
		t.selected = selection{t.list.At(i).Session, i}
	}
}

// setFilter filters the list. An empty filter shows all sessions.
func (t *table) setFilter(filter string) {
	t.filter = filter
	t.list.SetFilter(filter)
}

// filterForm returns the form of the filter. Each change applies the filter.
func (t *table) filterForm() *ui.Form {
	f := ui.NewForm(t.styles, "filter", "enter applies · esc clears", ui.NewField("words", t.filter,
		"words of the row; "+sessionlist.FilterKeys(t.servers.several != nil)))
	f.Changed = func(f *ui.Form) { t.setFilter(f.Value(0)) }
	f.Submit = func(*ui.Form) ui.Response { return ui.Response{Close: true} }
	f.Cancel = func() { t.setFilter("") }
	return f
}

// toggleMark marks a session or removes its mark.
func (t *table) toggleMark(session string) {
	if t.marked[session] {
		delete(t.marked, session)
		return
	}
	t.marked[session] = true
}

// markShown marks all sessions that the filter shows. If all are marked, it removes every mark.
func (t *table) markShown() {
	added := false
	for i := range t.list.Len() {
		s := t.list.At(i)
		added = added || !t.marked[s.Session]
		t.marked[s.Session] = true
	}
	if !added {
		clear(t.marked)
	}
}

// targets returns the marked sessions in the order of the list, those that the filter hides last.
// If none is marked, it returns the selected session.
func (t *table) targets() []protocol.Summary {
	if len(t.marked) == 0 {
		if s, ok := t.current(); ok {
			return []protocol.Summary{s}
		}
		return nil
	}
	var out, hidden []protocol.Summary
	for i := range t.list.Len() {
		if s := t.list.At(i); t.marked[s.Session] {
			out = append(out, s)
		}
	}
	for session := range t.marked {
		if s, ok := t.list.Get(session); ok && t.list.Index(session) < 0 {
			hidden = append(hidden, s)
		}
	}
	return append(out, hidden...)
}

// pageSize returns the number of sessions by which to scroll a page.
func (t *table) pageSize(area tableArea) int {
	return max(1, (area.bodyRows()-1)/t.layout(area).each)
}

// visible returns the sessions whose rows are on the screen.
func (t *table) visible(area tableArea) []protocol.Summary {
	layout, rows := t.layout(area), area.bodyRows()
	first := layout.window(t.selectedIndex(), rows)
	var out []protocol.Summary
	for n := first; n < min(layout.lines(), first+rows); n++ {
		if line := layout.at(n); line.isSession() && line.row == 0 {
			out = append(out, t.list.At(line.index))
		}
	}
	return out
}

// details returns a line with what the row of the selected session omits.
func (t *table) details(width int) string {
	s, ok := t.current()
	if !ok {
		return ""
	}
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, ui.Excerpt(part))
		}
	}
	add(ui.Prefixed(t.servers.of(s.Session)+" ", t.servers.age(t.styles, s.Session)))
	add(describe.Agent(s.Agent))
	if s.Percent > 0 {
		parts = append(parts, "context "+format.Percent(s.Percent))
	}
	add(queueText(&s))
	add(t.directory(&s, width/3))
	add(labelsText(s.Labels))
	if s.Name != "" {
		add(s.Title)
	}
	if s.Clients > 0 {
		add(format.Count(s.Clients, "client"))
	}
	add(ui.ShortID(s.Session))
	return t.styles.Dim.Render(ui.Fit(" "+strings.Join(parts, " · "), width))
}

// queueText returns the number of queued messages of a session, or "".
func queueText(s *protocol.Summary) string {
	switch {
	case s.Queue == 0:
		return ""
	case s.Held:
		return fmt.Sprintf("+%d held", s.Queue)
	}
	return fmt.Sprintf("+%d", s.Queue)
}
