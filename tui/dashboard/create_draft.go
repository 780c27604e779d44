package dashboard

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Hints of the form that creates a session: without and with something to keep.
const (
	createHint      = "tab next field · enter creates · esc cancels"
	createDraftHint = "tab next field · enter creates · esc closes, the draft is kept"
)

// createDraft is the content of the form that creates a session, kept until a session has it.
type createDraft struct {
	first    []string     // values at first, by field
	loading  bool         // the stored draft was requested
	restored bool         // it arrived: it can be replaced
	saved    drafts.Draft // what was saved last
}

// loadDraft returns the command that loads the stored draft of a form that was opened, or nil.
func (f *createForm) loadDraft() tea.Cmd {
	if f.draft.loading {
		return nil
	}
	f.draft.loading = true
	var stored drafts.Draft
	return f.requests.Run(func(context.Context) error {
		stored = f.drafts.Load(drafts.NewSession)
		return nil
	}, func(error) tea.Cmd {
		f.restoreDraft(stored)
		return nil
	})
}

// restoreDraft inserts the stored draft. What was typed before it arrived stays.
func (f *createForm) restoreDraft(stored drafts.Draft) {
	for i := 0; i < len(f.Fields); i++ { // the server first: what follows it depends on it
		value, ok := stored.Fields[f.Fields[i].Label]
		if i == f.prompt() {
			value, ok = stored.Text+f.Value(i), stored.Text != ""
		} else if f.Value(i) != f.draft.first[i] && i != f.agent && i != f.agent+1 {
			continue
		}
		if ok {
			f.SetValue(i, value)
		}
	}
	if !stored.Empty() {
		f.Title = "new session, from your draft"
	}
	f.draft.restored, f.draft.saved = true, stored
	f.saveDraft()
}

// saveDraft saves what is in the form if it has changed.
func (f *createForm) saveDraft() {
	now := f.content()
	f.Hint = createHint
	if !now.Empty() {
		f.Hint = createDraftHint
	}
	if f.draft.restored && !now.Equal(f.draft.saved) {
		f.draft.saved = now
		f.drafts.Save(drafts.NewSession, now)
	}
}

// removeDraft removes the draft, which a session has, unless the form did not show it or another form
// is open with it.
func (f *createForm) removeDraft() {
	if !f.draft.restored {
		return
	}
	if other, open := f.requests.overlays.Top().(*createForm); !open || other == f {
		f.drafts.Save(drafts.NewSession, drafts.Draft{})
	}
}

// content returns the values of the form that differ from the first ones. Without a text in the
// name, the directory or the prompt there is nothing to keep.
func (f *createForm) content() drafts.Draft {
	directory := f.Value(f.agent + 1)
	typed := f.Value(0) != "" || f.Value(f.prompt()) != "" || directory != "" && directory != f.draft.first[f.agent+1]
	if !typed {
		return drafts.Draft{}
	}
	out := drafts.Draft{Text: f.Value(f.prompt()), Fields: map[string]string{}}
	for i := range f.prompt() {
		if value := f.Value(i); value != f.draft.first[i] {
			out.Fields[f.Fields[i].Label] = value
		}
	}
	return out
}

// close shows how the draft is offered again.
func (f *createForm) close() {
	if now := f.content(); !now.Empty() {
		again := f.requests.styles.Keys.Hint(keymap.NewSession, "opens it again")
		f.requests.Status.Text = "draft kept" + ui.Prefixed(keymap.Separator, again)
	}
}

// prompt returns the index of the field of the prompt.
func (f *createForm) prompt() int { return len(f.Fields) - 1 }
