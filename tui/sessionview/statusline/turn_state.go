package statusline

import (
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// turnState is the state of the session's turn as the status line shows it.
type turnState struct {
	glyph, text string
	hint        string // key that changes the state, or ""
	style       *ui.Style
}

// render returns the state in its colour.
func (t *turnState) render(s *ui.Styles) string {
	return t.style.Render(t.glyph+" "+t.text) + s.Dim.Render(ui.Prefixed(keymap.Separator, t.hint))
}

// turnState returns the state of the turn for a status line of a width.
func (l *Line) turnState(width int) turnState {
	s, state := l.Styles, l.Replica.State
	switch {
	case l.Replica.Recorded && state.Turn == nil:
		return turnState{"●", "replay", "", &s.Warning}
	case l.Interrupting():
		return turnState{"◌", "interrupting …", "", &s.Warning}
	case state.Closed:
		return turnState{"○", "closed", "", &s.Dim}
	case l.Replica.Process != nil && state.Turn == nil:
		return turnState{"◌", describe.Starting(l.Replica.Process, l.Now()), "", &s.Accent}
	case state.Turn == nil:
		return idleState(s, state)
	case len(state.Approvals) > 0:
		return turnState{"◌", "waiting for " + format.Count(len(state.Approvals), "approval"), "", &s.Warning}
	}
	text, now := "running", l.Now()
	if l.Replica.Recorded {
		text = "replay running"
	}
	wide := width >= minDetailWidth
	work, waited := l.Turns.Waits().Split(protocol.TurnPart{}, state.Turn.Started, now)
	title, worked := l.RunningTool(now)
	if title != "" && wide {
		text, work, waited = text+" "+ui.Fit(title, width/4), worked, 0
	}
	if p := l.Replica.Process; p != nil {
		text = describe.Starting(p, now)
	} else if work >= time.Second || waited >= time.Second {
		text += " " + describe.Took(work.Truncate(time.Second), waited.Truncate(time.Second))
	}
	if silent := l.Silence(); silent > 0 && wide && (title == "" || silent+2*time.Second < worked) {
		text += " · silent " + format.Duration(silent) // a tool is not named silent from its start
	}
	hint := ""
	if wide && !l.Replica.Recorded {
		hint = s.Keys.Hint(keymap.Interrupt, "interrupts")
	}
	return turnState{"◐", text, hint, &s.Accent}
}

// minDetailWidth is the minimum width at which the state has the running tool and a key.
const minDetailWidth = 60

// idleState returns the state of an idle session. It names the outcome of the last turn unless that
// completed.
func idleState(s *ui.Styles, state *protocol.State) turnState {
	last := state.Last
	switch {
	case last == nil || last.Reason == protocol.ReasonCompleted:
		return turnState{"●", "idle", "", &s.Success}
	case last.Reason == protocol.ReasonError:
		return turnState{"✗", "idle · last turn failed", "", &s.Error}
	case last.Reason == protocol.ReasonLimited:
		text := describe.Limited(last.ResetsAt, s.ShortDate)
		if h := state.LimitHold(); h != nil && h.Until != nil {
			text = "usage limit, continues " + s.ShortDate(*h.Until)
		}
		return turnState{"‖", text, "", &s.Warning}
	}
	reason := transcript.CleanLine(describe.Reason(last.Reason))
	return turnState{"●", "idle · last turn " + reason, "", &s.Warning}
}
