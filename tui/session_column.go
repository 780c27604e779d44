package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/dashboard"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Sizes of the list of sessions beside a session, in cells.
const (
	columnScreen = 200 // width of a screen from which it has the list
	columnWidth  = 34  // with its border
)

// ListOptions configure the list of sessions beside a session.
type ListOptions struct {
	Hidden   bool
	OnChange func(hidden bool) // called, as a task, when the user shows or hides it; may be nil
}

// sessionColumn is the list of sessions beside the session on the screen.
type sessionColumn struct {
	options ListOptions
	scroll  int                    // lines away from the session on the screen
	lines   []dashboard.ColumnLine // of the last drawing
	ticking bool                   // a columnTickMsg is pending
}

// columnTickMsg redraws the ages of the sessions in the list.
type columnTickMsg struct{}

// tickColumn schedules a redraw in a minute while the list of sessions is shown.
func (p *program) tickColumn() tea.Cmd {
	if p.column.ticking || p.sessions.shown == nil || p.columnWidth() == 0 || p.renderClock.resting {
		return nil
	}
	p.column.ticking = true
	return p.sessions.viewConfig.After(time.Minute, columnTickMsg{})
}

// columnWidth returns the width of the list of sessions beside a session. It is 0 if there is none.
func (p *program) columnWidth() int {
	if p.dashboard == nil || p.column.options.Hidden || p.width < columnScreen {
		return 0
	}
	return columnWidth
}

// sessionSize returns the size of the place for the sessions on the screen.
func (p *program) sessionSize() tea.WindowSizeMsg {
	return tea.WindowSizeMsg{Width: p.width - p.columnWidth(), Height: p.height}
}

// addColumn puts the list of sessions beside the session in v.
func (p *program) addColumn(v *tea.View) {
	width := p.columnWidth()
	if width == 0 {
		return
	}
	c := &p.column
	c.lines, c.scroll = p.dashboard.Column(p.sessions.shown.id, width-1, p.height, c.scroll)
	border, joined := p.styles.Border.Render("│"), p.styles.Border.Render("├")
	content := strings.Split(v.Content, "\n")
	var b strings.Builder
	for i, line := range c.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(ui.Pad(line.Text, width-1))
		switch {
		case i >= len(content):
			b.WriteString(border)
		case ui.StartsWithRule(content[i]):
			b.WriteString(joined + content[i])
		default:
			b.WriteString(border + content[i])
		}
	}
	v.SetContent(b.String())
	if v.Cursor != nil {
		moved := *v.Cursor
		moved.X += width
		v.Cursor = &moved
	}
}

// columnInput handles mouse events over the list of sessions. It returns the message for the
// session, moved to the session's columns, or nil if the list handled it. A drag of a border goes
// on and ends over the list too.
func (p *program) columnInput(msg tea.Msg) (tea.Msg, tea.Cmd) {
	width := p.columnWidth()
	mouse, ok := msg.(tea.MouseMsg)
	if !ok || width == 0 {
		return msg, nil
	}
	if m := mouse.Mouse(); m.X < width && !p.drags(msg) {
		return nil, p.columnMouse(msg, m.Y)
	}
	switch m := msg.(type) {
	case tea.MouseClickMsg:
		m.X -= width
		return m, nil
	case tea.MouseReleaseMsg:
		m.X -= width
		return m, nil
	case tea.MouseMotionMsg:
		m.X -= width
		return m, nil
	case tea.MouseWheelMsg:
		m.X -= width
		return m, nil
	}
	return msg, nil
}

// columnMouse scrolls the list of sessions, or opens the session in a row.
func (p *program) columnMouse(msg tea.Msg, row int) tea.Cmd {
	switch m := msg.(type) {
	case tea.MouseWheelMsg:
		p.column.scroll += ui.WheelRows(m)
	case tea.MouseClickMsg:
		if m.Button == tea.MouseLeft && row < len(p.column.lines) && p.column.lines[row].Session != "" {
			return p.openListed(p.column.lines[row].Session)
		}
	}
	return nil
}

// openListed opens a session of the list.
func (p *program) openListed(id string) tea.Cmd {
	if !p.sessions.IsOpen(id) && !p.dashboard.Reachable(id) {
		p.sessions.shown.view.ShowStatus("the server of this session is not connected")
		return nil
	}
	if id == p.sessions.shown.id {
		return nil
	}
	p.navigation = pendingNavigation{}
	return p.open(id)
}

// toggleColumn shows or hides the list of sessions.
func (p *program) toggleColumn() tea.Cmd {
	shown := p.sessions.shown
	if shown == nil {
		return nil
	}
	o := &p.column.options
	o.Hidden = !o.Hidden
	switch {
	case p.width < columnScreen:
		shown.view.ShowStatus("the list of sessions needs a screen of 200 columns")
		o.Hidden = false
	case o.Hidden:
		shown.view.ShowStatus("list of sessions hidden")
	}
	cmd := p.showPanes()
	if o.OnChange == nil {
		return cmd
	}
	hidden := o.Hidden
	return tea.Batch(cmd, shown.tasks.Run(func(context.Context) tea.Msg {
		o.OnChange(hidden)
		return nil
	}))
}

// columnActions are the actions of the list of sessions.
var columnActions = []keymap.Action{keymap.ToggleColumn, keymap.PreviousSession, keymap.NextSession}

// actColumn carries out an action of the list of sessions.
func (p *program) actColumn(action keymap.Action) (cmd tea.Cmd, handled bool) {
	if p.sessions.shown == nil || !slices.Contains(columnActions, action) {
		return nil, false
	}
	if action == keymap.ToggleColumn {
		return p.toggleColumn(), true
	}
	by := 1
	if action == keymap.PreviousSession {
		by = -1
	}
	p.requestWatch()
	if id := p.dashboard.Neighbour(p.sessions.shown.id, by); id != "" {
		return p.openListed(id), true
	}
	p.sessions.shown.view.ShowStatus("no further session in the list")
	return nil, true
}
