package sidecolumn

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// overlay shows the side column on a screen that is too narrow for it.
type overlay struct{ column *Column }

// Update implements [ui.Overlay].
func (o *overlay) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		o.column.Scroll(ui.WheelRows(msg))
	case ui.RowMsg:
		o.column.Scroll(msg.Wheel)
	case tea.KeyPressMsg:
		keys, key := o.column.styles.Keys, msg.String()
		switch keys.InList(keymap.Global, key) {
		case keymap.Up:
			o.column.Scroll(-1)
		case keymap.Down:
			o.column.Scroll(1)
		case keymap.First:
			o.column.offset = 0
		case keymap.Back, keymap.ToggleSide:
			return ui.Response{Close: true}
		}
	}
	return ui.Response{}
}

// View implements [ui.Overlay]. The last line shows the keys.
func (o *overlay) View(width, height int) ([]string, *tea.Cursor) {
	s, lines := o.column.styles, o.column.view(width, max(0, height-1))
	if len(o.column.lines(width)) == 0 && len(lines) > 0 {
		lines[0] = s.Dim.Render(" no plan, queue or changed files")
	}
	hint := " " + s.Keys.Hint(keymap.Up, "up", keymap.Down, "down", keymap.Back, "back")
	return append(lines, s.Dim.Render(ui.Fit(hint, width))), nil
}

// Scope implements [ui.Overlay].
func (o *overlay) Scope() keymap.Scope { return keymap.Lists }

// FullScreen implements [ui.Overlay].
func (o *overlay) FullScreen() bool { return true }

// Contains reports whether a column of cells of a screen belongs to the side column.
func (c *Column) Contains(x, screen int) bool { return x >= screen-c.Width(screen) }

// Toggle shows or hides the column. On a narrow screen, and for people alone, it returns the
// column as an overlay.
func (c *Column) Toggle(screen int) panel.Result {
	if screen < minScreen || !c.hasCause() {
		return panel.Result{Push: &overlay{c}}
	}
	hidden := !*c.Hidden
	*c.Hidden = hidden
	if hidden {
		c.commands.Status.Text = "side column hidden"
	}
	if c.OnChange == nil {
		return panel.Result{}
	}
	return panel.Result{Cmd: c.commands.Tasks.Run(func(context.Context) tea.Msg {
		c.OnChange(hidden)
		return nil
	})}
}
