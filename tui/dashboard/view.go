package dashboard

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Sizes of the screen, in cells, that decide on the preview.
const (
	previewBeside = 120 // minimum width for the preview to be beside the list instead of below
	previewBelow  = 30  // minimum height for the preview to be below the list by default
	minHeadRows   = 8   // rows of the list from which the columns have headings
)

// screenLayout is the division of the screen, in cells.
type screenLayout struct {
	table        tableArea
	previewRows  int // 0 without a preview
	previewWidth int // 0 if the preview is below the list
	panel        []string
	panelCursor  *tea.Cursor
	hasDetails   bool   // whether there is a detail line
	lost         string // line of the servers that are lost, or ""
}

// layout divides the screen for the current size, preview and docked overlay.
func (d *Dashboard) layout() screenLayout {
	width, height := d.canvas.Width, d.canvas.Height
	var l screenLayout
	t := &l.table
	*t = tableArea{width: width, rows: height - 1, narrow: width < twoRowsBelow} // one row for the title
	if height > 1 {
		t.rows-- // for the footer
	}
	if l.hasDetails = t.rows > 4; l.hasDetails {
		t.rows--
		if l.lost = d.servers.lostLine(d.Styles, width); l.lost != "" {
			t.rows--
		}
	}
	if o := d.overlays.Docked(); o != nil {
		l.panel, l.panelCursor = o.View(width, t.rows-min(3, t.rows/8))
		t.rows -= len(l.panel)
	}
	switch {
	case !d.preview.shown(width, height) || d.table.list.Total() == 0:
	case width >= previewBeside:
		t.width, t.beside = width*11/20, true
		l.previewWidth = width - t.width - 1
		l.previewRows = t.rows + 1
	case t.rows >= 4:
		l.previewRows = t.rows / 2
		t.rows -= l.previewRows
	}
	t.heads = !t.narrow && t.rows >= minHeadRows && d.table.list.Len() > 0
	return l
}

// draw returns the lines of the screen and the cursor.
func (d *Dashboard) draw(width, height int) ([]string, *tea.Cursor) {
	l := d.layout()
	lines := d.table.lines(l.table, d.emptyLines)
	if l.previewRows > 0 {
		selected, _ := d.table.current()
		preview := d.preview.lines(&selected, cmp.Or(l.previewWidth, width), l.previewRows)
		if l.previewWidth == 0 {
			lines = append(lines, preview...)
		} else {
			border, below := "┬", "│" // of the titles, of the rows
			if d.Styles.Grounds() {
				border, below = " ", " " // between grounds
			}
			for i := range lines {
				lines[i] = ui.Pad(lines[i], l.table.width) + d.Styles.Dim.Render(border) + preview[i]
				border = below
			}
		}
	}
	if l.hasDetails {
		lines = append(lines, d.table.details(width))
	}
	if l.lost != "" {
		lines = append(lines, l.lost)
	}
	above := len(lines)
	lines = append(lines, l.panel...)
	if height > 1 {
		lines = append(lines, d.footer())
	}
	if l.panelCursor != nil {
		l.panelCursor.Y += above
	}
	return lines, l.panelCursor
}

// emptyLines returns the text shown in place of an empty list.
func (d *Dashboard) emptyLines(width int) []string {
	keys := d.Styles.Keys
	var out []string
	style, text := &d.Styles.Plain, []string{"no session matches the filter", keys.Hint(keymap.Back, "shows all")}
	switch {
	case d.servers.listError != "":
		text, style = []string{"session list not available: " + d.servers.listError}, &d.Styles.Error
	case d.table.filter != "":
	case d.servers.home.conn.State != remote.Connected:
		text = []string{"waiting for the server …"}
	case d.overlays.Docked() != nil:
		return []string{"", " " + d.Styles.Bold.Render(ui.Fit("There is no session yet.", width-1))}
	default:
		text = []string{
			keys.Hint(keymap.NewSession, "creates one: it asks for an agent, a directory and a first message"),
			"In a shell: agentctl new --agent AGENT --prompt TEXT",
			keys.Hint(keymap.Help, "lists the keys"),
		}
		out = []string{"", " " + d.Styles.Bold.Render(ui.Fit("There is no session yet.", width-1)), ""}
	}
	for _, t := range text {
		for _, line := range ui.Wrap(ui.Excerpt(t), width-2) {
			out = append(out, style.Render(" "+line))
		}
	}
	return out
}

// footer returns the last line: a notice, the keys of a docked overlay or of the list.
func (d *Dashboard) footer() string {
	if notice := d.notice(); notice != "" {
		return notice
	}
	s, keys, width := d.Styles, d.Styles.Keys, d.canvas.Width
	conn := d.servers.homeText(d.Styles, d.Now(), d.requests.Answers.Text())
	width -= transcript.Width(conn)
	if o, ok := d.overlays.Docked().(interface{ KeyHint() string }); ok && o.KeyHint() != "" {
		return conn + s.Dim.Render(ui.Fit(" "+o.KeyHint(), width))
	}
	hint := keys.Hint(keymap.Choose, "open", keymap.NextPending, "next pending", keymap.NewSession, "new",
		keymap.ListFind, "filter", keymap.Find, "find", keymap.SortSessions, "sort",
		keymap.DecideRequest, "decide", keymap.TogglePreview, "preview",
		keymap.Edit, "rename", keymap.Remove, "close")
	switch {
	case len(d.table.marked) > 0:
		hint = keys.Hint(keymap.DecideRequest, "decide", keymap.DenySessions, "deny", keymap.Interrupt, "interrupt",
			keymap.SendSessions, "message", keymap.Remove, "close", keymap.Back, "unmark",
			keymap.LabelSession, "label", keymap.MarkSession, "mark")
	case d.table.list.Len() == 0:
		hint = keys.Hint(keymap.NewSession, "new", keymap.ListFind, "filter", keymap.OpenPalette, "commands")
	case !d.Reachable(d.Selected()):
		hint = keys.Hint(keymap.Reconnect, "tries again now", keymap.NextPending, "next pending",
			keymap.NewSession, "new", keymap.ListFind, "filter", keymap.Find, "find",
			keymap.SortSessions, "sort", keymap.TogglePreview, "preview")
	}
	help := keys.Hint(keymap.Help, "help")
	return conn + s.Dim.Render(ui.Spread(" "+ui.FitHints(hint, width-transcript.Width(help)-2), help, width))
}

// notice returns the text that replaces the key hints: the state of a lost connection and the
// status message; "" if there is neither.
func (d *Dashboard) notice() string {
	s, keys, width := d.Styles, d.Styles.Keys, d.canvas.Width
	if leave := d.screen.LeaveLine(width); leave != "" {
		return leave
	}
	conn := d.servers.homeText(d.Styles, d.Now(), d.requests.Answers.Text())
	switch {
	case d.status.Text != "":
		return ui.Fit(conn+s.Warning.Render(" "+ui.Excerpt(d.status.Text)), width)
	case d.servers.listError != "":
		return ui.Fit(conn+s.Error.Render(" "+ui.Excerpt(d.servers.listError)), width)
	case conn != "" && d.servers.home.conn.State != remote.Connected:
		hint := ui.Prefixed(" · ", keys.Hint(keymap.Reconnect, "tries again now"))
		advice := ui.Prefixed(" · ", ui.Excerpt(d.servers.home.conn.Advice))
		return ui.Fit(conn+s.Dim.Render(hint)+advice, width)
	}
	return ""
}
