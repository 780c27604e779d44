package sessionview

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/drafts"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// draftDelay is the time from a change of the draft to its saving.
const draftDelay = time.Second

// draftSaver saves the unsent message some time after it changed.
type draftSaver struct {
	panel.Base
	save     func(drafts.Draft)
	draft    func() drafts.Draft // returns the present one
	restored bool                // the stored draft arrived: it can be replaced
	at       time.Time           // when the draft is to be saved; zero: it has not changed
	saved    drafts.Draft        // what was saved last
}

// Deadline implements [ui.Timed].
func (s *draftSaver) Deadline() time.Time { return s.at }

// Due implements [ui.Timed].
func (s *draftSaver) Due() (cmd tea.Cmd, changed bool) {
	s.at = time.Time{}
	s.saveNow()
	return nil, false
}

// saveNow saves the draft if it has changed.
func (s *draftSaver) saveNow() {
	if s.save == nil || !s.restored {
		return
	}
	if d := s.draft(); !d.Equal(s.saved) {
		s.saved = d
		s.save(d)
	}
}

// DraftMsg carries the stored draft of the session to its view.
type DraftMsg drafts.Draft

// restoreDraft inserts the stored draft before the text that was typed meanwhile.
func (v *View) restoreDraft(d drafts.Draft) {
	v.panels.drafts.restored, v.panels.drafts.saved = true, d
	if d.Empty() || d.Shell && v.composer.RestoreShell(d.Text) {
		return
	}
	v.composer.Restore(d.Text)
	v.addFiles(d.Files...)
}

// scheduleDraft sets the time to save the draft if a message may have changed it.
func (v *View) scheduleDraft(msg tea.Msg) {
	s := &v.panels.drafts
	if s.save == nil || !s.restored || !s.at.IsZero() {
		return
	}
	switch msg.(type) {
	case ui.TimerMsg:
		return
	case request.DoneMsg, ui.EditedMsg:
	default:
		if !ui.IsInput(msg) && s.saved.Empty() {
			return
		}
	}
	s.at = v.Now().Add(draftDelay)
}

// SaveDraft saves the draft if it has changed.
func (v *View) SaveDraft() { v.panels.drafts.saveNow() }

// KeepText adds a text that was written elsewhere to the unsent message.
func (v *View) KeepText(text string) {
	v.composer.Continue(text)
	v.canvas.Dirty = true
	v.SaveDraft()
}

// draft returns the messages written here that the server may not have, as one draft.
func (v *View) draft() drafts.Draft {
	texts, files := v.panels.outbox.Unaccepted()
	unsent, isShell := v.composer.Unsent(), v.composer.Shell
	if isShell && len(texts) > 0 {
		unsent, isShell = "! "+unsent, false // text among messages
	}
	texts = append(texts, unsent)
	return drafts.Draft{
		Shell: isShell && unsent != "",
		Text:  strings.Trim(strings.Join(texts, "\n\n"), "\n"),
		Files: append(files, v.panels.attachments.files...),
	}
}
