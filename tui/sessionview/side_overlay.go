package sessionview

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// sideOverlay shows the side column on a screen that is too narrow for it.
type sideOverlay struct{ column *sideColumn }

// Update implements [ui.Overlay].
func (o *sideOverlay) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		o.column.scroll(ui.WheelRows(msg))
	case tea.KeyPressMsg:
		keys, key := o.column.styles.Keys, msg.String()
		switch keys.InList(keymap.Global, key) {
		case keymap.Up:
			o.column.scroll(-1)
		case keymap.Down:
			o.column.scroll(1)
		case keymap.First:
			o.column.offset = 0
		case keymap.Back, keymap.ToggleSide:
			return ui.Response{Close: true}
		}
	}
	return ui.Response{}
}

// View implements [ui.Overlay]. The last line shows the keys.
func (o *sideOverlay) View(width, height int) ([]string, *tea.Cursor) {
	s, lines := o.column.styles, o.column.view(width, max(0, height-1))
	if len(o.column.lines(width)) == 0 && len(lines) > 0 {
		lines[0] = s.Dim.Render(" no plan, queue or changed files")
	}
	hint := " " + s.Keys.Hint(keymap.Up, "up", keymap.Down, "down", keymap.Back, "back")
	return append(lines, s.Dim.Render(ui.Fit(hint, width))), nil
}

// Scope implements [ui.Overlay].
func (o *sideOverlay) Scope() keymap.Scope { return keymap.Lists }

// FullScreen implements [ui.Overlay].
func (o *sideOverlay) FullScreen() bool { return true }

// overSide reports whether a column of the screen belongs to the side column.
func (v *View) overSide(x int) bool {
	return x >= v.canvas.Width-v.panels.side.width(v.canvas.Width)
}

// toggleSide shows or hides the side column. A narrow screen shows it as an overlay.
func (v *View) toggleSide() tea.Cmd {
	if v.canvas.Width < sideScreen {
		v.overlays.Push(&sideOverlay{&v.panels.side})
		return nil
	}
	side := &v.panels.side
	hidden := !*side.hidden
	*side.hidden = hidden
	switch {
	case hidden:
		v.status.Text = "side column hidden"
	case side.width(v.canvas.Width) == 0:
		v.status.Text = "no plan, queue or changed files to show"
	}
	if v.Side.OnChange == nil {
		return nil
	}
	return v.Tasks.Run(func(context.Context) tea.Msg {
		v.Side.OnChange(hidden)
		return nil
	})
}
