package sessionview

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/drafts"
	"agentctl/tui/request"
	"agentctl/tui/ui"
)

// draftDelay is the time from a change of the draft to its saving.
const draftDelay = time.Second

// draftSaver saves the unsent message some time after it changed.
type draftSaver struct {
	save     func(drafts.Draft)
	restored bool         // the stored draft arrived: it can be replaced
	pending  bool         // a saveDraftMsg is pending
	saved    drafts.Draft // what was saved last
}

// DraftMsg carries the stored draft of the session to its view.
type DraftMsg drafts.Draft

// saveDraftMsg reports the end of a draftDelay.
type saveDraftMsg struct{}

// restoreDraft inserts the stored draft before the text that was typed meanwhile.
func (v *View) restoreDraft(d drafts.Draft) {
	v.panels.drafts.restored, v.panels.drafts.saved = true, d
	if d.Empty() || d.Shell && v.composer.RestoreShell(d.Text) {
		return
	}
	v.composer.Restore(d.Text)
	v.addFiles(d.Files...)
}

// scheduleDraft starts the timer that saves the draft if a message may have changed it.
func (v *View) scheduleDraft(msg tea.Msg) tea.Cmd {
	s := &v.panels.drafts
	if s.save == nil || !s.restored || s.pending {
		return nil
	}
	switch msg.(type) {
	case saveDraftMsg:
		return nil
	case request.DoneMsg, editedMsg:
	default:
		if !ui.IsInput(msg) && s.saved.Empty() {
			return nil
		}
	}
	s.pending = true
	return v.After(draftDelay, saveDraftMsg{})
}

// SaveDraft saves the draft if it has changed.
func (v *View) SaveDraft() {
	s := &v.panels.drafts
	if s.save == nil || !s.restored {
		return
	}
	if d := v.draft(); !d.Equal(s.saved) {
		s.saved = d
		s.save(d)
	}
}

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
