package input

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/drafts"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// draftDelay is the time from a change of the draft to its saving.
const draftDelay = time.Second

// DraftMsg carries the stored draft of the session to its view.
type DraftMsg drafts.Draft

// draftSaver saves the unsent message after changes. It keeps the stored draft until that has been
// restored.
type draftSaver struct {
	panel.Base
	draft func() drafts.Draft // returns the unsent message
	write func(drafts.Draft)  // nil: nothing is saved

	restored bool         // the stored draft arrived: it can be replaced
	at       time.Time    // when the draft is to be saved; zero: it has not changed
	saved    drafts.Draft // what was saved last
}

// Deadline implements [ui.Timed].
func (s *draftSaver) Deadline() time.Time { return s.at }

// Due implements [ui.Timed]. It saves the draft.
func (s *draftSaver) Due() (cmd tea.Cmd, changed bool) {
	s.at = time.Time{}
	s.save()
	return nil, false
}

// restore records the stored draft.
func (s *draftSaver) restore(d drafts.Draft) { s.restored, s.saved = true, d }

// follow sets the time to save the draft if a message may have changed it.
func (s *draftSaver) follow(msg tea.Msg) {
	switch msg.(type) {
	case ui.TimerMsg:
		return
	case request.DoneMsg:
	default:
		if !ui.IsInput(msg) && s.saved.Empty() {
			return
		}
	}
	s.schedule()
}

// schedule sets the time to save the draft, which may have changed, unless it is set.
func (s *draftSaver) schedule() {
	if s.write != nil && s.restored && s.at.IsZero() {
		s.at = s.Now().Add(draftDelay)
	}
}

// save saves the draft if it has changed.
func (s *draftSaver) save() {
	if s.write == nil || !s.restored {
		return
	}
	if d := s.draft(); !d.Equal(s.saved) {
		s.saved = d
		s.write(d)
	}
}
