package dashboard

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// maxJumps is the maximum number of sessions that a jump offers.
const maxJumps = 12

// jump is a docked overlay that opens a session by a part of its name, title, labels or directory.
type jump struct {
	dashboard *Dashboard
	input     *ui.TextInput
	selected  int
	back      bool // esc returns to the session that was shown
	title     string
	intent    func(session string) any // what enter does with the chosen session
}

// OpenJump opens the jump. back: esc returns to the session that was shown.
func (d *Dashboard) OpenJump(back bool) {
	d.openJump(back, "jump to a session", func(session string) any { return OpenIntent{session} })
}

// openJump opens the jump with a title and the intent for the session that is chosen.
func (d *Dashboard) openJump(back bool, title string, intent func(session string) any) {
	if _, open := d.overlays.Top().(*jump); open {
		return
	}
	d.overlays.Push(&jump{dashboard: d, input: d.Styles.NewTextInput(""), back: back, title: title, intent: intent})
	d.canvas.Dirty = true
}

func (j *jump) Scope() keymap.Scope { return keymap.Global }
func (j *jump) FullScreen() bool    { return false }
func (j *jump) KeyHint() string     { return "↑ ↓ choose · enter open · esc back" }

func (j *jump) found() []protocol.Summary { return j.dashboard.list.Find(j.input.Value(), maxJumps) }

func (j *jump) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		j.input.Paste(msg.Content)
		j.selected = 0
	case tea.KeyPressMsg:
		return j.press(msg)
	}
	return ui.Response{}
}

func (j *jump) press(msg tea.KeyPressMsg) ui.Response {
	found := j.found()
	switch msg.String() {
	case "esc":
		if j.back {
			return ui.Response{Close: true, Intent: BackIntent{}}
		}
		return ui.Response{Close: true}
	case "up", "ctrl+p":
		j.selected = max(j.selected-1, 0)
	case "down", "ctrl+n":
		j.selected = max(min(j.selected+1, len(found)-1), 0)
	case "enter":
		if j.selected < len(found) {
			return ui.Response{Close: true, Intent: j.intent(found[j.selected].Session)}
		}
	default:
		before := j.input.Value()
		j.input.Press(msg)
		if j.input.Value() != before {
			j.selected = 0
		}
	}
	return ui.Response{}
}

func (j *jump) View(width, height int) ([]string, *tea.Cursor) {
	s, d := j.dashboard.Styles, j.dashboard
	input := s.InputLine(" ", j.input, width)
	if j.input.Value() == "" {
		input = s.Dim.Render(ui.Fit(" name, title, label or directory", width))
	}
	out := []string{s.Rule(s.Bold.Render(j.title), width), input}
	found := j.found()
	if len(found) == 0 {
		out = append(out, s.Dim.Render(ui.Fit("   no session matches", width)))
	}
	found, selected := ui.Window(found, j.selected, max(height-len(out), 0))
	for i := range found {
		summary := &found[i]
		mark, style, status := d.sessionStatus(summary)
		details := []string{status}
		server := []string{d.servers.age(d.Styles, summary.Session), d.servers.of(summary.Session)}
		for _, part := range append(server, labelsText(summary.Labels), d.directory(summary, width/3)) {
			if part != "" {
				details = append(details, format.JoinLines(part))
			}
		}
		name, about := ui.Pad(sessionName(summary), max(min(width/3, maxName), minName)), strings.Join(details, " · ")
		if i == selected {
			out = append(out, s.Selected.Render(ui.Pad("▸"+mark+" "+name+" "+about, width)))
			continue
		}
		out = append(out, ui.Fit(" "+style.Render(mark)+" "+s.Bold.Render(name)+" "+s.Dim.Render(about), width))
	}
	if height < 2 {
		return out[:max(min(len(out), height), 0)], nil
	}
	return out[:min(len(out), height)], ui.InputCursor(" ", j.input, 1)
}
