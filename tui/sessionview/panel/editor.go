package panel

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// Editor opens texts in the user's editor.
type Editor struct {
	Base
	Tasks   *task.Runner
	Command string     // its command line
	Status  *ui.Status // shows failures

	// Exec returns a command that runs another program in the terminal.
	Exec func(tea.ExecCommand, tea.ExecCallback) tea.Cmd
}

// editedMsg carries a text from the user's editor to done.
type editedMsg struct {
	text string
	err  error
	done func(string)
}

// Open opens a text.
func (e *Editor) Open(i ui.EditIntent) tea.Cmd {
	editor := &ui.Editor{
		Context: e.Tasks.Context(), Command: e.Command, Extension: cmp.Or(i.Extension, "txt"), Text: i.Text,
	}
	return e.Exec(editor, func(err error) tea.Msg { return e.Tasks.Wrap(editedMsg{editor.Text, err, i.Done}) })
}

// Update implements [Part].
func (e *Editor) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	edited, ok := msg.(editedMsg)
	switch {
	case !ok:
		return nil, false
	case edited.err != nil:
		e.Status.Text = edited.err.Error()
	default:
		edited.done(edited.text)
	}
	return nil, true
}
