package request

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// Runner runs requests as tasks. The parts of a screen share it.
type Runner struct {
	Tasks   *task.Runner
	Status  *ui.Status
	Answers *ui.Answers
}

// DoneMsg carries the result of a task back to the event loop. Its receiver calls Then with Err.
type DoneMsg struct {
	Err  error
	Then func(error) tea.Cmd
}

// Run runs f as a task and calls then with its error in the event loop.
func (r *Runner) Run(f func(context.Context) error, then func(error) tea.Cmd) tea.Cmd {
	return r.Tasks.Run(func(ctx context.Context) tea.Msg {
		err := f(ctx)
		if ctx.Err() != nil {
			return nil // the program is ending
		}
		return DoneMsg{err, then}
	})
}

// Await returns then for a command that a server answers without waiting for the agent. The name of
// the server may be "".
func (r *Runner) Await(server string, then func(error) tea.Cmd) func(error) tea.Cmd {
	answered := r.Answers.Expect(server)
	return func(err error) tea.Cmd {
		answered()
		return then(err)
	}
}

// slow are the commands whose answers wait for the agent.
var slow = []protocol.Verb{
	protocol.DoCompact, protocol.DoConfigure, protocol.DoContext, protocol.DoFork, protocol.DoRetry, protocol.DoUndo,
}

// SendTo sends a command to a session of a server and decodes its result into result, which may be
// nil. It calls then with the error in the event loop.
func (r *Runner) SendTo(
	session remote.Session, server string, verb protocol.Verb, data, result any, then func(error) tea.Cmd,
) tea.Cmd {
	if !slices.Contains(slow, verb) {
		then = r.Await(server, then)
	}
	return r.Run(func(ctx context.Context) error { return session.Do(ctx, verb, data, result) }, then)
}

// Report shows an error as the status message. It is the callback of commands without further
// effects.
func (r *Runner) Report(err error) tea.Cmd {
	if err != nil {
		r.Status.Text = remote.ErrorText(err)
	}
	return nil
}

// Sender sends the commands of one session. The parts of its view share it.
type Sender struct {
	Runner
	Session remote.Session
}

// Send sends a command and decodes its result into result, which may be nil. It calls then with the
// error in the event loop.
func (s *Sender) Send(verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	return s.SendTo(s.Session, "", verb, data, result, then)
}

// Do sends a command that needs no callback: its events change the screen.
func (s *Sender) Do(verb protocol.Verb, data any) tea.Cmd { return s.Send(verb, data, nil, s.Report) }

// Await returns then for a command that the server answers without waiting for the agent.
func (s *Sender) Await(then func(error) tea.Cmd) func(error) tea.Cmd { return s.Runner.Await("", then) }
