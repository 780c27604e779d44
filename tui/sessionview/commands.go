package sessionview

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// commander sends commands to the session as tasks. The parts of the view share it.
type commander struct {
	session remote.Session
	tasks   *task.Runner
	status  *ui.Status
}

// doneMsg brings the result of a command, or of several, back to the event loop.
type doneMsg struct {
	err  error
	then func(error) tea.Cmd
}

// do sends a command; then runs in the event loop with its error.
func (c *commander) do(verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	return c.run(func(ctx context.Context) error { return c.session.Do(ctx, verb, data, result) }, then)
}

// run runs f as a task; then runs in the event loop with its error.
func (c *commander) run(f func(context.Context) error, then func(error) tea.Cmd) tea.Cmd {
	return c.tasks.Run(func(ctx context.Context) tea.Msg {
		err := f(ctx)
		if ctx.Err() != nil {
			return nil // the program ends
		}
		return doneMsg{err, then}
	})
}

// report shows an error as the status message. It is the then of commands whose events show the rest.
func (c *commander) report(err error) tea.Cmd {
	if err != nil {
		c.status.Text = remote.ErrorText(err)
	}
	return nil
}
