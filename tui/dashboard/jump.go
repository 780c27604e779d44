package dashboard

import (
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// maxJumps is the maximum number of sessions that a jump offers.
const maxJumps = 12

// jump is a docked overlay that opens a session by a part of its name, title, labels or directory.
type jump = ui.Picker[protocol.Summary]

// OpenJump opens the jump. back: esc returns to the session that was shown.
func (d *Dashboard) OpenJump(back bool) {
	d.openJump(back, "jump to a session", func(session string) ui.Intent { return OpenIntent{session} })
}

// openJump opens the jump with a title and the intent for the session that is chosen.
func (d *Dashboard) openJump(back bool, title string, intent func(session string) ui.Intent) {
	if _, open := d.overlays.Top().(*jump); open {
		return
	}
	list := ui.List[protocol.Summary]{
		Title: d.Styles.Heading(title),
		Rows:  func(text string) []protocol.Summary { return d.table.list.Find(text, maxJumps) },
		ID:    func(s protocol.Summary) string { return s.Session },
		Draw: func(s protocol.Summary, selected bool, width int) []string {
			return []string{d.jumpLine(&s, selected, width)}
		},
		Choose: func(s protocol.Summary) ui.Response { return ui.Response{Close: true, Intent: intent(s.Session)} },
		Empty:  func(string) string { return "   no session matches" },
		Hint:   func() string { return "↑ ↓ choose · enter open · esc back" },
		Label:  " ", Placeholder: "name, title, label or directory", Docked: maxJumps,
	}
	if back {
		list.Leave = BackIntent{}
	}
	d.overlays.Push(ui.NewPicker(d.Styles, list))
	d.canvas.Dirty = true
}

// jumpLine draws a session: its status, name and details.
func (d *Dashboard) jumpLine(s *protocol.Summary, selected bool, width int) string {
	mark, style, status := d.table.status(s)
	details := []string{status}
	server := []string{d.servers.age(d.Styles, s.Session), d.servers.of(s.Session)}
	for _, part := range append(server, labelsText(s.Labels), d.table.directory(s, width/3)) {
		if part != "" {
			details = append(details, format.JoinLines(part))
		}
	}
	name, about := ui.Pad(sessionName(s), max(min(width/3, maxName), minName)), strings.Join(details, " · ")
	if selected {
		return d.Styles.Selected.Render(ui.Pad("▸"+mark+" "+name+" "+about, width))
	}
	return ui.Fit(" "+style.Render(mark)+" "+d.Styles.Bold.Render(name)+" "+d.Styles.Dim.Render(about), width)
}
