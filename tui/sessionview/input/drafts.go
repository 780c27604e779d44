package input

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

// draftSaver knows when the unsent message is to be saved.
type draftSaver struct {
	restored bool         // the stored draft arrived: it can be replaced
	at       time.Time    // when the draft is to be saved; zero: it has not changed
	saved    drafts.Draft // what was saved last
}

// DraftMsg carries the stored draft of the session to its view.
type DraftMsg drafts.Draft

// Deadline implements [ui.Timed].
func (in *Input) Deadline() time.Time { return in.drafts.at }

// Due implements [ui.Timed]. It saves the draft.
func (in *Input) Due() (cmd tea.Cmd, changed bool) {
	in.drafts.at = time.Time{}
	in.SaveDraft()
	return nil, false
}

// restoreDraft inserts the stored draft before the text that was typed since the view opened.
func (in *Input) restoreDraft(d drafts.Draft) {
	in.drafts.restored, in.drafts.saved = true, d
	if d.Empty() || d.Shell && in.composer.RestoreShell(d.Text) {
		return
	}
	in.composer.Restore(d.Text)
	in.addFiles(d.Files...)
}

// scheduleDraft sets the time to save the draft if a message may have changed it.
func (in *Input) scheduleDraft(msg tea.Msg) {
	switch msg.(type) {
	case ui.TimerMsg:
		return
	case request.DoneMsg:
	default:
		if !ui.IsInput(msg) && in.drafts.saved.Empty() {
			return
		}
	}
	in.changeDraft()
}

// changeDraft sets the time to save the draft, which may have changed, unless it is set.
func (in *Input) changeDraft() {
	if s := &in.drafts; in.Options.SaveDraft != nil && s.restored && s.at.IsZero() {
		s.at = in.Now().Add(draftDelay)
	}
}

// SaveDraft saves the draft if it has changed.
func (in *Input) SaveDraft() {
	s := &in.drafts
	if in.Options.SaveDraft == nil || !s.restored {
		return
	}
	if d := in.Draft(); !d.Equal(s.saved) {
		s.saved = d
		in.Options.SaveDraft(d)
	}
}

// KeepText adds a text that was written elsewhere to the unsent message.
func (in *Input) KeepText(text string) {
	in.composer.Continue(text)
	in.SaveDraft()
}

// Draft returns the messages written here that the server may not have, as one draft.
func (in *Input) Draft() drafts.Draft {
	texts, files := in.Outbox.Unaccepted()
	unsent, isShell := in.composer.Unsent(), in.composer.Shell
	if isShell && len(texts) > 0 {
		unsent, isShell = "! "+unsent, false // text among messages
	}
	texts = append(texts, unsent)
	return drafts.Draft{
		Shell: isShell && unsent != "",
		Text:  strings.Trim(strings.Join(texts, "\n\n"), "\n"),
		Files: append(files, in.attachments.files...),
	}
}
