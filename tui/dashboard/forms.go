package dashboard

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// sessionName returns the display name of a session, on one line.
func sessionName(s *protocol.Summary) string {
	return ui.Excerpt(cmp.Or(s.Name, s.Title, ui.ShortID(s.Session)))
}

// renameForm returns the form that renames a session.
func renameForm(r *requester, s *protocol.Summary) *ui.Form {
	f := ui.NewForm(r.styles, "rename "+sessionName(s), "enter renames · esc cancels",
		ui.NewField("name", ui.Excerpt(s.Name), "(optional)"))
	session := s.Session
	f.Submit = func(f *ui.Form) ui.Response {
		f.Sending()
		name := strings.TrimSpace(f.Value(0))
		data := protocol.RenameData{Name: &name}
		return ui.Response{Cmd: r.do(session, protocol.DoRename, data, nil, func(err error) tea.Cmd {
			return r.submitted(f, f, err, nil)
		})}
	}
	return f
}

// closeQuestion returns the question whether to close or delete a session.
func closeQuestion(r *requester, s *protocol.Summary) *ui.Question {
	session := s.Session
	run := func(remove bool) func() tea.Cmd {
		return func() tea.Cmd {
			var res protocol.CloseResult
			data := protocol.CloseData{Delete: remove}
			return r.do(session, protocol.DoClose, data, &res, func(err error) tea.Cmd {
				if res.Worktree != "" {
					r.Status.Text = "the worktree " + res.Worktree + " stays: " + res.Reason
				}
				return r.Report(err)
			})
		}
	}
	choices := []ui.Choice{
		{Label: "Close, keep the history", Run: run(false)}, {Label: "Delete with all history", Run: run(true)},
	}
	if s.Status == protocol.Closed {
		choices = choices[1:]
	}
	q := ui.NewQuestion(r.styles, "close "+sessionName(s)+"?", choices...)
	closed := s.Status == protocol.Closed
	q.Until = func(msg tea.Msg) bool { // the choices follow from the state at the start
		now, ok := msg.(*protocol.Summary)
		return ok && now.Session == session && (now.Deleted || (now.Status == protocol.Closed) != closed)
	}
	return q
}
