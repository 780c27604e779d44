package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/request"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// Start is what the screen offers while there is no session. Without Agents it is the form that
// creates one.
type Start struct {
	Agents func() []Agent // of this machine, the ready ones first; nil: not known
	Tour   string         // shell command that runs the tour
}

// Agent is an agent of this machine.
type Agent struct {
	Name  string
	Ready bool
	About string // why it is ready, or the command that makes it so
}

// startPage lists the agents of this machine and the tour. Enter creates a session of a ready one.
type startPage struct {
	*ui.Picker[startRow]
	status string // of the last key
}

// startRow is an agent, or the tour if it has no name.
type startRow struct {
	Agent
	head string // of the section that begins with the row
}

const (
	tourName  = "tour"
	tourAbout = "a guided tour with a scripted agent: no key, no network"
)

// newStartPage returns the page.
func newStartPage(start *Start, r *requester, exec execute, c *creator) *startPage {
	s, rows := r.styles, startRows(start.Agents())
	tour := &ui.Editor{Context: r.Tasks.Context(), Command: start.Tour}
	p := new(startPage)
	p.Picker = ui.NewPicker(s, ui.List[startRow]{
		Title:  s.Heading("begin a session"),
		Rows:   func(string) []startRow { return rows },
		ID:     func(row startRow) string { return row.Name },
		Draw:   func(row startRow, selected bool, width int) []string { return row.draw(s, selected, width) },
		Status: func() string { return p.status },
		Hint: func() string {
			return s.Keys.Hint(keymap.Choose, "begin", keymap.NewSession, "name, directory, sandbox")
		},
		Choose: func(row startRow) ui.Response {
			switch {
			case row.Name == "":
				return ui.Response{Cmd: exec(tour, func(err error) tea.Msg {
					return r.Tasks.Wrap(request.DoneMsg{Err: err, Then: r.Report})
				})}
			case !row.Ready:
				p.status = "copied: " + row.About
				return ui.Response{Intent: ui.CopyIntent{Text: row.About}}
			}
			f := c.newForm(row.Name, "")
			return ui.Response{Close: true, Push: f, Cmd: f.submit().Cmd}
		},
		Press: func(key string) (ui.Response, bool) {
			if s.Keys.At(keymap.Sessions, key) != keymap.NewSession {
				return ui.Response{}, false
			}
			return ui.Response{Close: true, Push: c.open()}, true
		},
	})
	return p
}

// execute returns a command that runs a program in the terminal.
type execute = func(tea.ExecCommand, tea.ExecCallback) tea.Cmd

// Update implements [ui.Overlay].
func (p *startPage) Update(msg tea.Msg) ui.Response {
	if ui.IsInput(msg) {
		p.status = ""
	}
	return p.Picker.Update(msg)
}

// startRows returns the ready agents, the tour, then the others.
func startRows(all []Agent) []startRow {
	var ready, others []startRow
	for _, a := range all {
		a.Name, a.About = ui.Excerpt(a.Name), ui.Excerpt(a.About)
		if a.Ready {
			ready = append(ready, startRow{Agent: a})
		} else {
			others = append(others, startRow{Agent: a})
		}
	}
	ready = append(ready, startRow{Agent: Agent{Ready: true, About: tourAbout}})
	ready[0].head = "ready on this machine"
	if len(ready) == 1 {
		ready[0].head = "no agent is ready on this machine"
	}
	if len(others) > 0 {
		others[0].head = "to set up: enter copies the command"
	}
	return append(ready, others...)
}

// draw returns the lines of a row. A text that does not fit beside the name is below it.
func (row *startRow) draw(s *ui.Styles, selected bool, width int) (out []string) {
	const column = 12
	if row.head != "" {
		out = append(out, "", " "+s.Bold.Render(ui.Fit(row.head, width-1)))
	}
	name, style, mark := row.Name, s.Dim, "   "
	if name == "" {
		name = tourName
	}
	if row.Ready {
		style = s.Plain
	}
	if selected {
		style, mark = s.Selected, " ▸ "
	}
	about := ui.Wrap(row.About, max(1, width-len("   ")-1))
	if line := ui.Pad(name, column) + " " + row.About; transcript.Width(line) < width-len("   ") {
		if !row.Ready && !selected {
			return append(out, style.Render(mark+ui.Pad(name, column))+" "+row.About)
		}
		return append(out, style.Render(ui.Pad(mark+line, width)))
	}
	out = append(out, style.Render(ui.Fit(mark+name, width)))
	for _, line := range about {
		out = append(out, "   "+line)
	}
	return out
}
