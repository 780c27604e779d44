package sessionview

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// commander runs commands of the session as tasks. The parts of a view share it.
type commander struct {
	session remote.Session
	tasks   *task.Runner
	status  *ui.Status
	answers *ui.Answers
}

// slow are the commands whose answers wait for the agent.
var slow = []protocol.Verb{
	protocol.DoCompact, protocol.DoConfigure, protocol.DoContext, protocol.DoFork, protocol.DoRetry, protocol.DoUndo,
}

// doneMsg carries the result of a task back to the event loop.
type doneMsg struct {
	err  error
	then func(error) tea.Cmd
}

// send sends a command and decodes its result into result, which may be nil. It calls then with the
// error in the event loop.
func (c *commander) send(verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	if !slices.Contains(slow, verb) {
		then = c.await(then)
	}
	return c.run(func(ctx context.Context) error { return c.session.Do(ctx, verb, data, result) }, then)
}

// await returns then for a command that the server answers at once.
func (c *commander) await(then func(error) tea.Cmd) func(error) tea.Cmd {
	answered := c.answers.Expect("")
	return func(err error) tea.Cmd {
		answered()
		return then(err)
	}
}

// run runs f as a task and calls then with its error in the event loop.
func (c *commander) run(f func(context.Context) error, then func(error) tea.Cmd) tea.Cmd {
	return c.tasks.Run(func(ctx context.Context) tea.Msg {
		err := f(ctx)
		if ctx.Err() != nil {
			return nil // the program is ending
		}
		return doneMsg{err, then}
	})
}

// report shows an error as the status message. It is the callback of commands without further
// effects: their events change the screen.
func (c *commander) report(err error) tea.Cmd {
	if err != nil {
		c.status.Text = remote.ErrorText(err)
	}
	return nil
}
