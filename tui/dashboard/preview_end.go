package dashboard

import (
	"cmp"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// previewEnd draws the end of the preview: the request of a waiting session, or why the last turn
// failed and what helps.
type previewEnd struct {
	styles   *ui.Styles
	overlays *ui.Stack

	session string            // of card
	card    *approval.Preview // of the request of session
}

// transcriptRows is the number of rows that a request leaves to the transcript above it, if there is
// room.
const transcriptRows = 4

// lines returns at most rows lines for a session in a state, which may be nil.
func (e *previewEnd) lines(s *protocol.Summary, state *protocol.State, width, rows int) []string {
	_, deciding := e.overlays.Docked().(*approvalDialog) // it shows the request
	switch {
	case state == nil || rows < 1 || deciding:
	case s.Status == protocol.Waiting && len(state.Approvals) > 0:
		if e.session != s.Session {
			e.session, e.card = s.Session, approval.NewPreview(e.styles)
		}
		hint := e.styles.Keys.Hint(keymap.DecideRequest, "decides")
		if n := len(state.Approvals); n > 1 {
			hint += " · 1 of " + format.Count(n, "request")
		}
		above := min(transcriptRows, rows/4)
		titled := above == transcriptRows && len(state.Approvals) == 1 // the transcript ends with the title
		lines := e.card.View(&state.Approvals[0], state.CWD, hint, titled, width-1, rows-above)
		for i := range lines {
			lines[i] = " " + lines[i] // off the border of the list
		}
		if above == transcriptRows {
			lines = append([]string{""}, lines...)
		}
		return lines
	case s.Status == protocol.Idle && state.Last != nil:
		return e.failure(state.Last, width, rows)
	}
	return nil
}

// failure returns why a turn failed and what helps, or nil if it did not fail.
func (e *previewEnd) failure(last *protocol.LastTurn, width, rows int) []string {
	if end := (protocol.TurnEndedData{Reason: last.Reason}); !end.Failed() {
		return nil
	}
	out := []string{""}
	add := func(mark, text string) {
		for _, line := range ui.Wrap(ui.Excerpt(text), width-markWidth-1) {
			out = append(out, " "+mark+" "+line)
			mark = " "
		}
	}
	add(e.styles.Error.Render("✗"), cmp.Or(last.Message, string(last.Reason)))
	add(" ", describe.FailureHelp(last, e.styles.Keys.Key(keymap.Choose)))
	return out[:min(len(out), rows)]
}
