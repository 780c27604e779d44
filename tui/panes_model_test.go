package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"agentctl/tui/split"
	"agentctl/tui/task"
)

// paneKeys are the keys of the random walks.
var paneKeys = []string{
	"alt+w", "v", "alt+w", "v", "alt+w", "s", "alt+w", "s", "alt+w", "h", "alt+w", "l", "alt+w", "k", "alt+w", "j",
	"alt+w", "w", "alt+w", "z", "alt+w", "c", "alt+w", "+", "alt+w", "-", "alt+w", "+", "alt+w", "-", "f2", "enter", "esc", "down", "up", "tab",
	"pgup", "f8", "alt+g", "y", "q", "x",
}

// TestPanesStayConsistentUnderRandomKeys walks with random keys, mouse events and sizes of the
// terminal through splits, the dashboard and zoom.
func TestPanesStayConsistentUnderRandomKeys(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := newTestPanes(t, 120, 40, "s1", "v s2")
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch x, y := rapid.IntRange(0, 220).Draw(rt, "x"), rapid.IntRange(0, 70).Draw(rt, "y"); {
			case x < 10:
				d.send(tea.WindowSizeMsg{Width: 1 + y*4, Height: 1 + y})
			case x < 20:
				d.send(tea.WindowSizeMsg{Width: 200, Height: 60})
			case x < 30:
				d.send(tea.MouseClickMsg{X: x * 5, Y: y, Button: tea.MouseLeft})
				d.send(tea.MouseMotionMsg{X: x * 4, Y: y / 2, Button: tea.MouseLeft})
			default:
				d.press(rapid.SampledFrom(paneKeys).Draw(rt, "key"))
			}
			for _, o := range d.p.sessions.all {
				if o.view.Session().State.Session == "" && paneScenes[o.id] != "" {
					d.send(task.Message{To: o, Msg: paneContent(o.id, o.id)})
				}
			}
			if err := checkPanes(d.p); err != nil {
				rt.Fatal(err)
			}
		}
	})
}

// checkPanes returns an error if the screen, the open sessions and the layout contradict each
// other.
func checkPanes(p *program) error {
	l, shown := p.panes.layout, p.sessions.onScreen()
	for _, o := range p.sessions.all {
		if visible := slices.Contains(shown, o); o.view.Hidden() == visible {
			return fmt.Errorf("%s is on the screen: %v, hidden: %v", o.id, visible, o.view.Hidden())
		}
	}
	if len(shown) == 0 {
		return nil // the dashboard
	}
	a := l.Arrange(p.panes.width, p.panes.height)
	if p.sessions.shown.id != l.Focus() || len(a.Panes) != len(shown) || len(shown) > split.MaxPanes {
		return fmt.Errorf("%d sessions with %s for %+v", len(shown), p.sessions.shown.id, l)
	}
	for _, pane := range a.Panes {
		o := p.sessions.find(pane.Session)
		if want := (tea.WindowSizeMsg{Width: pane.Content.Width, Height: pane.Content.Height}); o.size != want {
			return fmt.Errorf("%s has the size %v, want %v", o.id, o.size, want)
		}
	}
	v := p.View()
	rows := 1
	for line := range strings.SplitSeq(v.Content, "\n") {
		if rows++; len(a.Panes) > 1 && ansi.StringWidth(line) != p.panes.width || ansi.StringWidth(line) > p.panes.width {
			return fmt.Errorf("the row %q has %d cells of %d", line, ansi.StringWidth(line), p.panes.width)
		}
		if !utf8.ValidString(line) {
			return fmt.Errorf("the row %q is no text", line)
		}
	}
	if rows-1 > p.panes.height {
		return fmt.Errorf("%d rows of %d", rows-1, p.panes.height)
	}
	focused := a.Panes[slices.IndexFunc(a.Panes, func(q split.Pane) bool { return q.Session == l.Focus() })]
	if v.Cursor != nil && !focused.Content.Contains(v.Cursor.X, v.Cursor.Y) {
		return fmt.Errorf("the cursor at %v is outside of %+v", v.Cursor.Position, focused.Content)
	}
	return nil
}
