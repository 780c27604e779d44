package settings

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// NewRename returns the form that renames the session. An empty name shows the present one. The form
// leaves overlays once the session has the new name.
func NewRename(b panel.Base, overlays *ui.Stack, name string) *ui.Form {
	state := b.Replica.State
	if name == "" {
		name = state.Name
	}
	title := "rename " + transcript.CleanLine(remote.SessionName(state))
	f := ui.NewForm(b.Styles, title, "enter renames · esc cancels",
		ui.NewField("name", transcript.CleanLine(name), "(optional)"))
	f.Submit = func(f *ui.Form) ui.Response {
		f.Sending()
		text := strings.TrimSpace(f.Value(0))
		data := protocol.RenameData{Name: &text}
		return ui.Response{Cmd: b.Commands.Send(protocol.DoRename, data, nil, func(err error) tea.Cmd {
			if err != nil {
				f.Fail(remote.ErrorText(err), remote.Advice(err))
				return nil
			}
			overlays.Remove(f)
			return nil
		})}
	}
	return f
}
