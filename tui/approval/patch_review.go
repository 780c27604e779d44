package approval

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/review"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// patchReview is the review of the changes of a request, with its decision below them. The keys
// that decide are those of the panel, under its guard.
type patchReview struct {
	body     *review.View
	panel    *Panel
	form     *Form
	request  protocol.Approval // a copy: the list of pending ones changes in place
	head     *requestHead
	shown    cardKey // text of the card in the body
	deciding bool    // the form has the keys
	rows     int     // of the body in the last drawing; the decision is below
}

// newPatchReview returns the review of a request. note is shown until the first key.
func newPatchReview(p *Panel, f *Form, r *protocol.Approval, note string) *patchReview {
	title := KindName(r.Kind)
	if p.name != "" {
		title = p.name + keymap.Separator + title
	}
	v := &patchReview{panel: p, form: f, request: *r}
	v.head = &requestHead{requestItem{f, f.editedRequest(&v.request)}}
	v.body, v.shown = review.New(f.styles, title, v.content()), f.card.text()
	v.body.SetMessage(note)
	f.reason.review = v.body
	return v
}

func (v *patchReview) content() review.Content {
	changes := v.form.card.changes.Changes
	if changes == nil { // the edited patch is no patch: the head shows it as text
		changes = filechange.New(nil)
	}
	return review.Content{Changes: changes, Head: v.head, Comments: &v.form.reason.comments, Unread: true}
}

// pending reports whether the request still waits for a decision.
func (v *patchReview) pending() bool {
	return v.panel.request == v.request.Request && v.panel.forms[v.request.Request] == v.form
}

// Scope returns the scope of the part that has the keys.
func (v *patchReview) Scope() keymap.Scope {
	if v.deciding {
		return keymap.Approval
	}
	return v.body.Scope()
}

// FullScreen returns true.
func (v *patchReview) FullScreen() bool { return true }

// Typing reports whether a text field has the keys.
func (v *patchReview) Typing() bool { return v.body.Typing() || v.form.Typing() }

// Update gives a message to the text field or the form that has the keys, else to the review.
func (v *patchReview) Update(msg tea.Msg) ui.Response {
	if !v.pending() {
		v.deciding = false
		_, isKey := msg.(tea.KeyPressMsg)
		_, isPaste := msg.(tea.PasteMsg)
		if (isKey || isPaste) && (v.form.Typing() || v.body.Commenting()) { // the text has left the review
			return ui.Response{Close: true, Pass: true}
		}
		return v.body.Update(msg)
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return v.press(msg)
	case tea.PasteMsg:
		v.panel.Paste(v.panel.pending, msg.Content)
	case tea.MouseClickMsg:
		return v.click(msg)
	}
	return v.body.Update(msg)
}

// press handles a key. The panel gets the keys that mean nothing in the review.
func (v *patchReview) press(msg tea.KeyPressMsg) ui.Response {
	p, key := v.panel, msg.String()
	keys := p.styles.Keys
	switch {
	case v.body.Typing():
		return v.body.Update(msg)
	case v.form.Typing():
		return v.apply(p.PressTyping(p.pending, msg))
	case keys.At(keymap.Global, key) == keymap.FocusNext:
		v.deciding = !v.deciding
		return ui.Response{}
	case !v.deciding && v.form.awaits.always == nil && v.body.Handles(key):
		r := v.body.Update(msg)
		if keys.InList(keymap.Review, key) == keymap.ReviewComment && !v.body.Typing() {
			p.rearm() // the keys that follow may be a comment
		}
		return r
	}
	switch action := keys.InList(keymap.Approval, key); {
	case v.form.awaits.always != nil: // the key confirms or discards it
	case action == keymap.Back || action == keymap.ViewRequest:
		v.deciding = false
		return ui.Response{}
	case action == keymap.NextRequest || action == keymap.PreviousRequest:
		return ui.Response{}
	case action == keymap.Choose && !v.deciding:
		return ui.Response{}
	}
	v.deciding = v.deciding || isDigit(key)
	return v.apply(p.Press(p.pending, key))
}

// apply carries out a result of the panel. A decision closes the review.
func (v *patchReview) apply(r Result) ui.Response {
	v.body.SetMessage(r.Status)
	switch {
	case r.Push != nil:
		v.deciding, v.form.awaits.always = false, nil
		v.body.SetMessage("not decided: this was not on the screen")
		if !v.body.ShowUnread() {
			v.body.Top()
		}
	case r.Decide != nil:
		return ui.Response{Close: true, Intent: Result{Decide: r.Decide}}
	case r.Edit != nil:
		return ui.Response{Intent: Result{Edit: r.Edit}}
	}
	return ui.Response{}
}

// View draws the review and, below it, the decision.
func (v *patchReview) View(width, height int) ([]string, *tea.Cursor) {
	f := v.form
	if r, _ := v.panel.Current(v.panel.pending); r != nil && v.pending() {
		v.request = *r
	}
	v.head.request = f.editedRequest(&v.request)
	v.head.update(max(f.card.key.width, minWidth))
	if text := f.card.text(); text != v.shown {
		v.shown = text
		v.body.SetContent(v.content())
	}
	below, cursor := v.decision(width, height/2)
	out, reviewCursor := v.body.View(width, height-len(below))
	v.rows = len(out)
	if reviewCursor != nil {
		return append(out, below...), reviewCursor
	}
	if cursor != nil {
		cursor.Y += len(out)
	}
	return append(out, below...), cursor
}

// decision draws the form if it has the keys, and the keys that decide.
func (v *patchReview) decision(width, rows int) ([]string, *tea.Cursor) {
	p, f, s := v.panel, v.form, v.panel.styles
	p.lines = p.lines[:0]
	if !v.pending() {
		text := " it was decided elsewhere"
		if f.sending == "" && f.text() != "" {
			text += keymap.Separator + "your text is in the message box"
		}
		return []string{s.Warning.Render(ui.Fit(text, width))}, nil
	}
	hint := p.hint(&v.request, f, true, 1)
	if !v.deciding && f.awaits.always == nil && !f.Typing() && p.guard.Armed() {
		hint = v.hint()
	}
	if n := f.reason.comments.Len(); n > 0 {
		hint = format.Count(n, "comment") + " sent with it" + ui.Prefixed(keymap.Separator, hint)
	}
	keys := s.Rule(s.Warning.Render(ui.FitHints(hint, width-4)), width)
	if !v.deciding && !f.Typing() && f.awaits.always == nil && f.err == "" {
		return []string{keys}, nil
	}
	all, at := p.formLines(f, width, true)
	form, at := ui.Window(all, at, max(1, rows-1))
	p.rows = len(form)
	f.markShown(all, form)
	out := []string{keys}
	p.lines = append(p.lines, formLine{})
	cursorRow := len(out) + at
	for _, line := range form {
		out = append(out, line.text)
		p.lines = append(p.lines, line)
	}
	if !f.Typing() {
		return out, nil
	}
	cursor := f.cursor(cursorRow)
	cursor.X -= frameWidth / 2
	return out, cursor
}

// hint returns the keys that decide while the review has the keys.
func (v *patchReview) hint() string {
	f, r := v.form, &v.request
	var pairs []any
	if f.card.complete(formRow{}) && r.Offers(protocol.AllowOnce) {
		pairs = append(pairs, keymap.Allow, strings.ToLower(f.nameOf(protocol.AllowOnce)))
	}
	if r.Offers(protocol.Deny) && !v.body.Searching() { // the next match has its key
		pairs = append(pairs, keymap.DenyRequest, strings.ToLower(f.nameOf(protocol.Deny)))
	}
	pairs = append(pairs, keymap.WriteReason, "reason", keymap.FocusNext, "all options")
	if editable(r) {
		pairs = append(pairs, keymap.EditRequest, "edit")
	}
	return f.styles.Keys.Hint(pairs...)
}

// requestHead is the request without its changes, before them in the review.
type requestHead struct{ requestItem }

// Block implements transcript.Item.
func (h *requestHead) Block(width int, _ bool) transcript.Block {
	h.update(width)
	lines := make([]string, len(h.form.card.lines))
	for at := range lines {
		lines[at] = h.form.card.lines[at].render(h.form.styles)
	}
	return transcript.Block{Body: append(lines, "")}
}

// Shown implements review.Head.
func (h *requestHead) Shown(width, from, to int) {
	h.update(width)
	h.form.card.markSeen(from, to)
}
