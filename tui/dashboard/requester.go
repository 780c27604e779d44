package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// requester runs requests to the server as tasks. The dashboard and its overlays share it.
type requester struct {
	server   remote.Server
	tasks    *task.Runner
	styles   *ui.Styles
	overlays *ui.Stack
	status   *ui.Status

	answers *ui.Answers
	left    leftRequests
	of      func(session string) string // name of its server, or ""
	refuse  func(session string) error  // why no command can be sent now, or nil
}

// run returns a command that runs work as a task. The function that work returns runs in the event
// loop.
func (r *requester) run(work func(context.Context) doneFunc) tea.Cmd {
	return r.tasks.Run(func(ctx context.Context) tea.Msg {
		done := work(ctx)
		if ctx.Err() != nil {
			return nil // the program is shutting down
		}
		return done
	})
}

// do returns a command that sends a command to a session. then runs in the event loop with the
// error of the request. If the session's server is not connected, it sends nothing.
func (r *requester) do(session string, verb protocol.Verb, data, result any, then func(error) (tea.Cmd, ui.Intent)) tea.Cmd {
	if err := r.refuse(session); err != nil {
		return func() tea.Msg { return doneFunc(func() (tea.Cmd, ui.Intent) { return then(err) }) }
	}
	s, answered := r.server.Session(session), r.answers.Expect(r.of(session))
	return r.run(func(ctx context.Context) doneFunc {
		err := s.Do(ctx, verb, data, result)
		return func() (tea.Cmd, ui.Intent) {
			answered()
			return then(err)
		}
	})
}

// report shows an error, if any, as the status message.
func (r *requester) report(err error) (tea.Cmd, ui.Intent) {
	if err != nil {
		r.status.Text = remote.ErrorText(err)
	}
	return nil, nil
}

// submitted handles the result of a form's request. It closes the form and returns the intent then.
// On error the form stays open and shows it. overlay is the form, or what shows it.
func (r *requester) submitted(f *ui.Form, overlay ui.Overlay, err error, then ui.Intent) (tea.Cmd, ui.Intent) {
	switch {
	case !r.overlays.Contains(overlay): // the user closed it
		return r.report(err)
	case err != nil:
		f.Fail(remote.ErrorText(err), remote.Advice(err))
		return nil, nil
	}
	return nil, closeIntent{overlay, then}
}
