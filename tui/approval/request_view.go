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

// requestView shows the whole request: a review of its changes, after its other lines, with its
// decision below. The keys of the form decide, under the guard of the request.
type requestView struct {
	styles   *ui.Styles
	body     *review.View
	requests *requests
	decider  *decider
	form     *Form
	request  protocol.Approval // a copy: the list of pending ones changes in place
	head     *requestPart
	tail     *requestPart
	shown    cardKey // text of the card in the body
	deciding bool    // the form has the keys
}

// newRequestView returns the view of the shown request. note is shown until the first key.
func newRequestView(l *requests, d *decider, title, note string) *requestView {
	r, f := l.current()
	v := &requestView{styles: f.styles, requests: l, decider: d, form: f, request: *r}
	v.head, v.tail = &requestPart{form: f}, &requestPart{form: f, options: true}
	v.layOut()
	v.body, v.shown = review.New(f.styles, title, v.content()), f.card.text()
	v.body.SetMessage(note)
	f.reason.review = v.body
	return v
}

func (v *requestView) content() review.Content {
	changes := v.form.card.changes.Changes
	if changes == nil { // the head shows all
		changes = filechange.New(nil)
	}
	c := review.Content{Changes: changes, Head: v.head, Comments: &v.form.reason.comments, Unread: true}
	if from, to := v.tail.lines(max(v.form.card.key.width, minWidth)); from < to {
		c.Tail = v.tail
	}
	return c
}

// layOut lays the request out as it is shown now.
func (v *requestView) layOut() {
	v.head.request = v.form.shown(&v.request)
	v.tail.request = v.head.request
	v.head.lines(max(v.form.card.key.width, minWidth))
}

// pending reports whether the request still waits for a decision and is the one that is shown.
func (v *requestView) pending() bool {
	_, f := v.requests.current()
	return f == v.form
}

// Scope returns the scope of the part that has the keys.
func (v *requestView) Scope() keymap.Scope {
	if v.deciding {
		return keymap.Approval
	}
	return v.body.Scope()
}

func (v *requestView) FullScreen() bool { return true }

// Typing reports whether a text field has the keys.
func (v *requestView) Typing() bool { return v.body.Typing() || v.form.Typing() }

// Update gives a message to the text field or the form that has the keys, else to the review.
func (v *requestView) Update(msg tea.Msg) ui.Response {
	r, f := v.requests.current()
	if f != v.form {
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
		return v.press(r, msg)
	case tea.PasteMsg:
		v.form.paste(msg.Content)
	case tea.MouseClickMsg:
		v.deciding = v.deciding && v.Typing()
	case ui.RowMsg:
		if msg.List == Rows || msg.List == PageRows {
			return v.point(r, msg)
		}
		v.deciding = v.deciding && v.Typing()
	}
	return v.body.Update(msg)
}

// press handles a key. The form gets the keys that mean nothing in the review.
func (v *requestView) press(r *protocol.Approval, msg tea.KeyPressMsg) ui.Response {
	keys, key := v.styles.Keys, msg.String()
	switch {
	case v.body.Typing():
		return v.body.Update(msg)
	case v.form.Typing():
		return v.apply(v.decider.pressTyping(r, v.form, msg))
	case keys.At(keymap.Global, key) == keymap.FocusNext:
		v.deciding = !v.deciding
		return ui.Response{}
	case !v.deciding && v.form.awaits.always == nil && v.body.Handles(key):
		response := v.body.Update(msg)
		if keys.InList(keymap.Review, key) == keymap.ReviewComment && !v.body.Typing() {
			v.decider.rearm() // the keys that follow may be a comment
		}
		return response
	}
	action := keys.InList(keymap.Approval, key)
	switch {
	case v.form.awaits.always != nil: // the key confirms or discards it
	case action == keymap.Back || action == keymap.ViewWhole:
		v.deciding = false
		return ui.Response{}
	case action == keymap.Next || action == keymap.Previous:
		return ui.Response{}
	case action == keymap.Choose && !v.deciding:
		return ui.Response{}
	}
	v.deciding = v.deciding || isDigit(key)
	return v.apply(v.decider.press(r, v.form, key, action))
}

// point handles the mouse on the rows below the changes, under the guard of their keys: a click shows the
// form, selects a row, or confirms the selected one.
func (v *requestView) point(r *protocol.Approval, msg ui.RowMsg) ui.Response {
	if v.body.Typing() || v.form.Typing() || v.form.awaits.always != nil || !v.deciding && msg.Wheel != 0 {
		return ui.Response{}
	}
	v.decider.guard.Touch(v.styles.Now())
	if !v.deciding { // the rows move: a double click must not confirm one
		v.deciding = true
		v.decider.rearm()
		if msg.Row >= 0 {
			v.form.rows.selected = msg.Row
		}
		return ui.Response{}
	}
	return v.apply(v.decider.point(r, v.form, msg))
}

// apply carries out a result of the decider. A decision closes the review.
func (v *requestView) apply(r Result) ui.Response {
	v.body.SetMessage(r.Status)
	switch {
	case r.unseen:
		v.decider.rearm()
		v.deciding, v.form.awaits.always = false, nil
		v.body.SetMessage("not decided: this was not on the screen")
		v.body.ShowUnread()
	case r.Decide != nil:
		return ui.Response{Close: true, Intent: Result{Decide: r.Decide, Open: r.Open}}
	case r.Edit != nil:
		return ui.Response{Intent: Result{Edit: r.Edit}}
	}
	return ui.Response{}
}

// View draws the review and, below it, the decision.
func (v *requestView) View(width, height int) ([]string, *tea.Cursor) {
	f := v.form
	if r, current := v.requests.current(); current == f {
		v.request = *r
	}
	v.layOut()
	if text := f.card.text(); text != v.shown {
		v.shown = text
		v.body.SetContent(v.content())
	}
	if v.pending() {
		v.decider.guard.Drawn(v.styles.Now())
	}
	below, cursor := v.decision(width, height/2)
	below = v.decider.mark(below)
	out, reviewCursor := v.body.View(width, height-len(below))
	if reviewCursor != nil {
		return append(out, below...), reviewCursor
	}
	if cursor != nil {
		cursor.Y += len(out)
	}
	return append(out, below...), cursor
}

// decision draws the form if it has the keys, and the keys that decide.
func (v *requestView) decision(width, rows int) ([]string, *tea.Cursor) {
	d, f, s := v.decider, v.form, v.styles
	d.drawn = 0
	if !v.pending() {
		text := " it was decided elsewhere"
		if f.sending == "" && f.text() != "" {
			text += keymap.Separator + "your text is in the message box"
		}
		return []string{s.Warning.Render(ui.Fit(text, width))}, nil
	}
	hint := d.hint(&v.request, f, true, false)
	if !v.deciding && f.awaits.always == nil && !f.Typing() && d.guard.armed {
		hint = v.hint()
	}
	if n := f.reason.comments.Len(); n > 0 {
		hint = format.Count(n, "comment") + " sent with it" + ui.Prefixed(keymap.Separator, hint)
	}
	keys := s.Rule(s.Warning.Render(ui.FitHints(hint, width-4)), width)
	if !v.deciding && !f.Typing() && f.awaits.always == nil && f.err == "" {
		return []string{keys}, nil
	}
	all, at := f.lines(width, true, d.offline)
	form, at := ui.Window(all, at, max(1, rows-1))
	f.card.markRowsSeen(all, form)
	out := []string{keys}
	d.drawn = len(form)
	cursorRow := len(out) + at
	for _, line := range form {
		out = append(out, line.text)
	}
	if !f.Typing() {
		return out, nil
	}
	cursor := f.cursor(cursorRow)
	cursor.X -= frameWidth / 2
	return out, cursor
}

// hint returns the keys that decide while the review has the keys.
func (v *requestView) hint() string {
	pairs := []any{keymap.WriteReason, "reason", keymap.FocusNext, "all options"}
	if editable(&v.request) {
		pairs = append(pairs, keymap.Edit, "edit")
	}
	hint := []string{v.form.decisionHint(&v.request), v.styles.Keys.Hint(pairs...)}
	return strings.TrimPrefix(strings.Join(hint, keymap.Separator), keymap.Separator)
}

// requestPart is the lines of a request before or after its changes.
type requestPart struct {
	form    *Form
	request *protocol.Approval
	options bool // the lines of the options, after the changes
}

// lines returns the range of the lines of the card, laid out at a width.
func (p *requestPart) lines(width int) (from, to int) {
	c := &p.form.card
	c.update(p.form.styles, p.request, p.form.options, width)
	if p.options {
		return c.optionsAt, len(c.lines)
	}
	return 0, c.optionsAt
}

// Estimate implements transcript.Item.
func (p *requestPart) Estimate(int, bool) int { return len(p.form.card.lines) }

// Block implements transcript.Item.
func (p *requestPart) Block(width int, _ bool) transcript.Block {
	from, to := p.lines(width)
	lines := make([]string, p.gap(), to-from+1)
	for i := from; i < to; i++ {
		lines = append(lines, " "+p.form.card.lines[i].render(p.form.styles))
	}
	if !p.options && p.form.card.changes.Changes != nil {
		lines = append(lines, "")
	}
	return transcript.Block{Body: lines}
}

// gap returns the number of blank lines before the options, which follow the changes.
func (p *requestPart) gap() int {
	if p.options && p.form.card.changes.Changes != nil {
		return 1
	}
	return 0
}

// Shown implements review.Part.
func (p *requestPart) Shown(width, from, to int) {
	first, end := p.lines(width)
	first -= p.gap()
	p.form.card.markSeen(max(first+from, first+p.gap()), min(first+to, end))
}

// Unread implements review.Part.
func (p *requestPart) Unread() (first, lines int) {
	c := &p.form.card
	from, to := p.lines(max(c.key.width, minWidth))
	for i := to - 1; i >= from; i-- {
		if !c.seen[i] {
			first = i - from + p.gap()
			lines++
		}
	}
	return first, lines
}
