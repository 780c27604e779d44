package dashboard

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Sizes of the screen, in cells, that decide on the preview.
const (
	previewBeside = 120 // minimum width for the preview to be beside the list instead of below
	previewBelow  = 30  // minimum height for the preview to be below the list by default
	listBeside    = 60  // width of the list beside the preview
	listShare     = 160 // width from which the list beside the preview has three fifths
	minHeadRows   = 8   // rows of the list from which the columns have headings
)

// screenLayout is the division of the screen, in cells.
type screenLayout struct {
	listWidth    int
	listRows     int  // without the title
	heads        bool // whether the first row of the list has the headings of the columns
	previewRows  int  // 0 if there is none
	previewWidth int  // 0 if the preview is below the list
	panel        []string
	panelCursor  *tea.Cursor
	hasDetails   bool   // whether there is a detail line
	lost         string // line of the servers that are lost, or ""
}

// layout divides the screen for the current size, preview and docked overlay.
func (d *Dashboard) layout() screenLayout {
	width, height := d.canvas.Width, d.canvas.Height
	l := screenLayout{listWidth: width, listRows: height - 1} // one row for the title
	if height > 1 {
		l.listRows-- // for the footer
	}
	if l.hasDetails = l.listRows > 4; l.hasDetails {
		l.listRows--
		if l.lost = d.lostLine(width); l.lost != "" {
			l.listRows--
		}
	}
	if o := d.overlays.Docked(); o != nil {
		l.panel, l.panelCursor = o.View(width, l.listRows-min(3, l.listRows/8))
		l.listRows -= len(l.panel)
	}
	switch {
	case !d.previewOn() || d.list.Total() == 0:
	case width >= previewBeside:
		l.listWidth = listBeside
		if width >= listShare {
			l.listWidth = width * 3 / 5
		}
		l.previewWidth = width - l.listWidth - 1
		l.previewRows = l.listRows + 1
	case l.listRows >= 4:
		l.previewRows = l.listRows / 2
		l.listRows -= l.previewRows
	}
	l.heads = width >= twoRowsBelow && l.listRows >= minHeadRows && d.list.Len() > 0
	return l
}

// bodyRows returns the number of lines for groups and sessions.
func (l *screenLayout) bodyRows() int {
	if l.heads {
		return l.listRows - 1
	}
	return l.listRows
}

// previewOn reports whether the preview is shown: as the user wants, or by default if there is
// room.
func (d *Dashboard) previewOn() bool {
	if d.preview.chosen {
		return d.preview.on
	}
	width, height := d.canvas.Width, d.canvas.Height
	return width >= previewBeside || width >= twoRowsBelow && height >= previewBelow
}

// pageSize returns the number of sessions by which to scroll a page.
func (d *Dashboard) pageSize() int {
	l := d.layout()
	list := d.listLayout(l.bodyRows())
	return max(1, (l.bodyRows()-1)/list.each)
}

// draw returns the lines of the screen and the cursor.
func (d *Dashboard) draw(width, height int) ([]string, *tea.Cursor) {
	l := d.layout()
	lines := d.listLines(&l)
	if l.previewRows > 0 {
		preview := d.previewLines(cmp.Or(l.previewWidth, width), l.previewRows)
		if l.previewWidth == 0 {
			lines = append(lines, preview...)
		} else {
			border := "┬" // of the titles
			for i := range lines {
				lines[i] = ui.Pad(lines[i], l.listWidth) + d.Styles.Dim.Render(border) + preview[i]
				border = "│"
			}
		}
	}
	if l.hasDetails {
		lines = append(lines, d.detailLine())
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
	text := []string{"no session matches the filter", keys.Hint(keymap.Back, "shows all")}
	switch {
	case d.servers.listError != "":
		text = []string{"session list not available: " + d.servers.listError}
	case d.filter != "":
	case d.servers.home.State != remote.Connected:
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
		for _, line := range ui.Wrap(format.JoinLines(transcript.Clean(t)), width-2) {
			out = append(out, d.Styles.Dim.Render(" "+line))
		}
	}
	return out
}

// footer returns the last line: a notice, the keys of a docked overlay or those of the list.
func (d *Dashboard) footer() string {
	if notice := d.notice(); notice != "" {
		return notice
	}
	s, keys, width := d.Styles, d.Styles.Keys, d.canvas.Width
	conn := d.connText()
	width -= ansi.StringWidth(conn)
	if o, ok := d.overlays.Docked().(interface{ KeyHint() string }); ok && o.KeyHint() != "" {
		return conn + s.Dim.Render(ui.Fit(" "+o.KeyHint(), width))
	}
	hint := keys.Hint(keymap.Choose, "open", keymap.NextPending, "next pending", keymap.NewSession, "new",
		keymap.FilterSessions, "filter", keymap.SearchSessions, "find", keymap.SortSessions, "sort",
		keymap.DecideRequest, "decide", keymap.TogglePreview, "preview",
		keymap.RenameSession, "rename", keymap.CloseOrDelete, "close")
	switch {
	case len(d.marks.sessions) > 0:
		hint = keys.Hint(keymap.DecideRequest, "decide", keymap.DenySessions, "deny", keymap.StopSessions, "interrupt",
			keymap.SendSessions, "message", keymap.CloseOrDelete, "close", keymap.Back, "unmark",
			keymap.LabelSession, "label", keymap.MarkSession, "mark")
	case !d.Reachable(d.Selected()):
		hint = keys.Hint(keymap.Reconnect, "tries again now", keymap.NextPending, "next pending",
			keymap.NewSession, "new", keymap.FilterSessions, "filter", keymap.SearchSessions, "find",
			keymap.SortSessions, "sort", keymap.TogglePreview, "preview")
	}
	help := keys.Hint(keymap.Help, "help")
	return conn + s.Dim.Render(ui.Spread(" "+ui.FitHints(hint, width-ansi.StringWidth(help)-2), help, width))
}

// notice returns the text that replaces the key hints: the state of a lost connection and the
// status message; "" if there is neither.
func (d *Dashboard) notice() string {
	s, keys, width := d.Styles, d.Styles.Keys, d.canvas.Width
	if leave := d.screen.LeaveLine(width); leave != "" {
		return leave
	}
	conn := d.connText()
	switch {
	case d.status.Text != "":
		return ui.Fit(conn+s.Warning.Render(" "+format.JoinLines(transcript.Clean(d.status.Text))), width)
	case d.servers.listError != "":
		return ui.Fit(conn+s.Error.Render(" "+format.JoinLines(transcript.Clean(d.servers.listError))), width)
	case conn != "" && d.servers.home.State != remote.Connected:
		hint := ui.Prefixed(" · ", keys.Hint(keymap.Reconnect, "tries again now"))
		advice := ui.Prefixed(" · ", format.JoinLines(transcript.Clean(d.servers.home.Advice)))
		return ui.Fit(conn+s.Dim.Render(hint+advice), width)
	}
	return ""
}

// connText returns the state of the connection unless it is established or being established; then
// how long a server has not answered, or "".
func (d *Dashboard) connText() string {
	var text string
	switch d.servers.home.State {
	case remote.Reconnecting:
		text = string(remote.Reconnecting)
		if wait := d.servers.home.Retry.Sub(d.Now()); wait > 0 {
			text += fmt.Sprintf(" in %ds", format.SecondsLeft(wait))
		}
	case remote.Closing:
		text = string(remote.Closing)
	case remote.Offline:
		text = string(remote.Offline)
		if d.servers.home.Reason != "" {
			text += ": " + d.servers.home.Reason
		}
	case remote.Connecting, remote.Connected:
		return d.Styles.Warning.Render(ui.Prefixed(" ○ ", d.requests.answers.Text()))
	}
	if d.servers.several != nil {
		text = d.servers.names[0] + " " + text
	}
	return d.Styles.Error.Render(" ○ " + format.JoinLines(transcript.Clean(text)))
}

// detailLine returns details of the selected session that its row omits.
func (d *Dashboard) detailLine() string {
	s, ok := d.current()
	if !ok {
		return ""
	}
	var parts []string
	add := func(part string) {
		if part != "" {
			parts = append(parts, format.JoinLines(transcript.Clean(part)))
		}
	}
	add(ui.Prefixed(d.servers.of(s.Session)+" ", d.servers.age(d.Styles, s.Session)))
	add(describe.Agent(s.Agent))
	if s.Percent > 0 {
		parts = append(parts, "context "+d.Styles.ContextBar(s.Percent, 8))
	}
	add(queueText(&s))
	add(d.directory(&s, d.canvas.Width/3))
	add(labelsText(s.Labels))
	if s.Name != "" {
		add(s.Title)
	}
	if s.Clients > 0 {
		add(format.Count(s.Clients, "client"))
	}
	add(ui.ShortID(s.Session))
	return d.Styles.Dim.Render(ui.Fit(" "+strings.Join(parts, " · "), d.canvas.Width))
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
