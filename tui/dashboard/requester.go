package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/ui"
)

// requester sends requests to the server. The dashboard and its overlays share it.
type requester struct {
	request.Runner
	server   remote.Server
	styles   *ui.Styles
	overlays *ui.Stack

	of     func(session string) string // name of its server, or ""
	refuse func(session string) error  // why no command can be sent now, or nil
	intent ui.Intent                   // of the last result; the dashboard takes it
}

// do returns a command that sends a command to a session. then runs in the event loop with the
// error of the request. If the session's server is not connected, it sends nothing.
func (r *requester) do(session string, verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	if err := r.refuse(session); err != nil {
		return r.Tasks.Send(request.DoneMsg{Err: err, Then: then})
	}
	return r.SendTo(r.server.Session(session), r.of(session), verb, data, result, then)
}

// close closes an overlay after a request. The dashboard carries out the intent then, if any.
func (r *requester) close(overlay ui.Overlay, then ui.Intent) {
	r.overlays.Remove(overlay)
	r.intent = then
}

// submitted handles the result of a form's request. It closes the form, after which the dashboard
// carries out the intent then. On error the form stays open and shows it. overlay is the form, or
// what shows it.
func (r *requester) submitted(f *ui.Form, overlay ui.Overlay, err error, then ui.Intent) tea.Cmd {
	if err != nil {
		f.Fail(remote.ErrorText(err), remote.Advice(err))
	}
	switch {
	case !r.overlays.Contains(overlay): // the user closed it
		return r.Report(err)
	case err == nil:
		r.close(overlay, then)
	}
	return nil
}
