package approval

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Panel shows the pending requests, one at a time, and lets the user decide them. It must not be
// copied after its first use.
type Panel struct {
	styles   *ui.Styles
	title    title
	requests requests
	decider  decider
	unsent   unsent
	review   ui.Overlay // with the whole request, the last one; nil: none
	open     bool       // the frame has no sides
}

// Result is the result of a key press. The owner of the panel carries it out.
type Result struct {
	Leave  bool                  // release the focus
	Focus  bool                  // take the focus
	Status string                // status message to show, or ""
	Push   ui.Overlay            // overlay to open, or nil
	Decide *protocol.ApproveData // send this decision, then call Decided
	Open   string                // a URL to open before the decision; if that fails, send none
	Close  ui.Overlay            // remove this overlay if it is open; nil: none
	Edit   *ui.EditIntent        // open this text in the user's editor

	option *decisionOption // take this option; nil: none
	unseen bool            // not decided: a part of the request was not on the screen
}

// NewPanel returns a panel without requests. name is the name of the session, or "" if the screen
// shows it elsewhere.
func NewPanel(s *ui.Styles, name string) Panel {
	return Panel{
		styles: s, title: title{s, name}, decider: decider{styles: s},
		requests: requests{forms: map[string]*Form{}}, unsent: unsent{sent: map[string]*Form{}},
	}
}

// SetPending sets the pending requests of a session with the directory dir. live marks new ones as
// arriving now. The owner calls Due at the deadline of the panel.
func (p *Panel) SetPending(pending []protocol.Approval, dir string, live bool) {
	now := p.styles.Now()
	before := p.requests.forms[p.requests.shown] // pending may have changed in place
	removed, changed := p.requests.update(pending, func(r *protocol.Approval) *Form {
		f := NewForm(p.styles, r)
		f.card.directory, f.card.above = dir, p.title.name == ""
		if live {
			f.arrived = now
		}
		return f
	})
	for _, f := range removed {
		p.unsent.keep(f)
	}
	r, f := p.requests.current()
	if r == nil {
		p.decider.guard.held.cancel(now, gone)
	}
	switch {
	case changed && before != nil && !before.decidedHere():
		p.decider.guard.Replace(now)
	case changed || r != nil && f.card.isChanged(f.shown(r)):
		p.decider.guard.Change(now)
	}
}

// SetPage sets the whole URL of the page that a pending request asks to open. The owner calls it if
// the user may open it. A URL of another page is ignored.
func (p *Panel) SetPage(request, url string) {
	i := IndexOf(p.requests.pending, request)
	if i < 0 {
		return
	}
	r, f := &p.requests.pending[i], p.requests.forms[request]
	if f.setPage(r, url); request == p.requests.shown && f.card.isChanged(f.shown(r)) {
		p.decider.rearm()
	}
}

// Current returns the shown request, or nil.
func (p *Panel) Current() *protocol.Approval {
	r, _ := p.requests.current()
	return r
}

// Press handles a key while the panel has the focus. The owner must call Touch before.
func (p *Panel) Press(msg tea.KeyPressMsg) Result {
	r, f := p.requests.current()
	switch {
	case r == nil:
		return Result{Leave: true}
	case f.Typing():
		return p.withUnseen(r, f, p.decider.pressTyping(r, f, msg))
	}
	action := p.styles.Keys.InList(keymap.Approval, msg.String())
	switch action {
	case keymap.Back:
		leave := f.awaits.always == nil
		f.awaits.always = nil
		return Result{Leave: leave}
	case keymap.ViewWhole:
		return Result{Push: p.view(r, f, "")}
	case keymap.Previous, keymap.Next:
		by := 1
		if action == keymap.Previous {
			by = -1
		}
		if p.requests.cycle(by) { // a key that follows directly decides nothing
			p.decider.guard.Choose(p.styles.Now())
		}
		return Result{}
	}
	return p.withUnseen(r, f, p.decider.press(r, f, msg.String(), action))
}

// withUnseen returns a result of the decider, with the view of the request if a part of it was not on
// the screen.
func (p *Panel) withUnseen(r *protocol.Approval, f *Form, result Result) Result {
	if result.unseen {
		f.awaits.always = nil // its key is another one in the view
		return Result{Push: p.view(r, f, "not decided: view it to its end first")}
	}
	return result
}

// view returns an overlay with the whole request. note is the reason why it opens, or "".
func (p *Panel) view(r *protocol.Approval, f *Form, note string) ui.Overlay {
	f.card.update(f.styles, f.shown(r), f.options, max(f.card.key.width, minWidth))
	p.decider.rearm()
	p.review = newRequestView(&p.requests, &p.decider, p.title.ofReview(r), note)
	return p.review
}

// PressChord handles a digit key with alt while another part has the focus. It takes the focus and
// selects the row of the digit. handled is false for any other key.
func (p *Panel) PressChord(key string) (result Result, handled bool) {
	digit, isChord := strings.CutPrefix(key, "alt+")
	_, f := p.requests.current()
	if f == nil || !isChord || f.sending != "" || f.Typing() || !f.choose(digit) {
		return Result{}, false
	}
	f.awaits.always = nil
	return Result{Focus: true}, true
}

// Lists of rows of the panel; see [ui.RowMsg]. Lines other than the rows of the form have the row -1.
const (
	Rows     = "approval"
	PageRows = "page" // a click on the selected row opens the page of the request
)

// Point handles the mouse on a row, under the guard of the keys. The owner must call Touch before, as for
// a key. The wheel on a request that is not shown to its end opens its view.
func (p *Panel) Point(msg ui.RowMsg) Result {
	r, f := p.requests.current()
	switch {
	case r == nil:
		return Result{}
	case msg.Row < 0 && msg.Wheel > 0 && !f.card.complete(formRow{}):
		return Result{Push: p.view(r, f, "")}
	}
	return p.withUnseen(r, f, p.decider.point(r, f, msg))
}

// Typing reports whether a text row of the shown request is being edited.
func (p *Panel) Typing() bool {
	_, f := p.requests.current()
	return f != nil && f.Typing()
}

// Paste inserts text into the edited text row, if any.
func (p *Panel) Paste(text string) {
	if _, f := p.requests.current(); f != nil {
		f.paste(text)
	}
}

// Decided records the answer to a decision. message is the error message, or "" if the decision was
// accepted. Its texts are gone then, unless the request only gets an explanation. If the request was
// removed before the answer, TakeUnsent returns what is left.
func (p *Panel) Decided(request, message string) {
	if p.unsent.answered(request, message) {
		return
	}
	if f := p.requests.forms[request]; f != nil {
		f.decided(message)
	}
}

// Sending reports whether a decision on a request is being sent from this panel. known is false if
// the request is not pending.
func (p *Panel) Sending(request string) (sending, known bool) {
	f := p.requests.forms[request]
	return f != nil && f.sending != "", f != nil
}

// Written reports whether the user wrote something about a pending request that is not sent.
func (p *Panel) Written() bool {
	for _, f := range p.requests.forms {
		if f.sending == "" && f.text() != "" {
			return true
		}
	}
	return false
}

// TakeUnsent returns what removed requests have left, and forgets it. After SetPending that is the text
// of requests without a decision from here, after Decided the text of a decision that was not
// accepted.
func (p *Panel) TakeUnsent() Unsent { return p.unsent.take() }

// SetOffline sets whether decisions wait for the connection.
func (p *Panel) SetOffline(offline bool) { p.decider.offline = offline }

// SetOpen sets whether the frame has no sides: there are borders beside the panel. It reports
// whether that changed.
func (p *Panel) SetOpen(open bool) (changed bool) {
	changed = p.open != open
	p.open = open
	return changed
}

// Reopen blocks the decision of a request that appears again, as of a new one.
func (p *Panel) Reopen() {
	p.decider.guard = Guard{}
	p.decider.rearm()
}

// Replace blocks decisions as of a request that takes the place of another one without a key of the
// user: the first key only confirms that it was seen.
func (p *Panel) Replace() { p.decider.guard.Replace(p.styles.Now()) }

// TakeFocus records that the panel gets the focus. A key that follows directly decides nothing.
func (p *Panel) TakeFocus() {
	p.Touch()
	p.decider.guard.Choose(p.styles.Now())
}

// LoseFocus cancels a held decision: the keys go elsewhere from now on.
func (p *Panel) LoseFocus() { p.decider.guard.held.cancel(p.styles.Now(), left) }

// Touch records a key press; see Guard.Touch.
func (p *Panel) Touch() { p.decider.guard.Touch(p.styles.Now()) }

// Deadline returns the time to call Due, or zero; see Guard.Deadline.
func (p *Panel) Deadline() time.Time {
	if p.requests.shown == "" {
		return p.decider.guard.held.until
	}
	return p.decider.guard.Deadline()
}

// Due makes the shown request accept a decision after the grace period, and ends the hold of a
// decision. It reports whether one of them happened. The owner carries out the result.
func (p *Panel) Due() (r Result, changed bool) {
	now := p.styles.Now()
	r, changed = p.decider.guard.held.end(now)
	if r.Decide != nil {
		r.Close = p.review
	}
	if _, f := p.requests.current(); f != nil && f.reason.review != nil && r.Status != "" {
		f.reason.review.SetMessage(r.Status)
	}
	armed := p.requests.shown != "" && p.decider.guard.Arm(now)
	return r, changed || armed
}

// edgeRows is the number of rows of a panel beside the request and the form.
const edgeRows = 3

// View returns at most rows lines, and the cursor while a text row is edited. It records which
// lines of the request were shown. The selected row of the form is always visible.
func (p *Panel) View(width, rows int, focused bool) ([]string, *tea.Cursor) {
	p.decider.drawn = 0
	r, f := p.requests.current()
	if r == nil || rows < 1 {
		return nil, nil
	}
	if focused {
		p.decider.guard.Drawn(p.styles.Now())
	}
	c, sides := &f.card, frame{p.styles, width, focused, p.open}
	c.update(p.styles, f.shown(r), f.options, width)
	form, at := f.lines(max(0, width-frameWidth), focused, p.decider.offline)
	room := max(0, rows-edgeRows)
	if c.inForm+len(form) > room {
		form, at = withoutGaps(form, at)
	}
	request := c.excerpt(max(room-len(form), min(room/2+1, room)))
	all, selected := form, at
	form, at = ui.Window(form, at, room-len(request))
	c.markRowsSeen(all, form)
	out := []string{sides.rule(p.title.line(r, f, p.requests.place()), topEdge)}
	for _, line := range c.excerptLines(p.styles, request, focused && !f.Typing()) {
		out = append(out, sides.line(line))
	}
	c.markExcerptSeen(request)
	if left := notShown(selected-at, len(all)-len(form)); len(form) > 0 && (len(request) > 0 || left != "") {
		out = append(out, sides.rule(left, middleEdge))
	}
	cursorRow := len(out) + at
	p.decider.drawn = len(form)
	for _, line := range form {
		out = append(out, sides.line(line.text))
	}
	hint := p.decider.hint(r, f, focused, len(p.requests.pending) > 1)
	out = append(out, sides.rule(ui.FitHints(hint, width-frameWidth-2), bottomEdge))
	out = p.decider.mark(out[:min(len(out), rows)])
	if !f.Typing() || cursorRow >= len(out) {
		return out, nil
	}
	return out, f.cursor(cursorRow)
}

// notShown returns how many lines of a form are left out above and in total, or returns "".
func notShown(above, total int) string {
	var out []string
	if above > 0 {
		out = append(out, fmt.Sprintf("⋯ %d above", above))
	}
	if below := total - above; below > 0 {
		out = append(out, fmt.Sprintf("⋯ %d below", below))
	}
	return strings.Join(out, keymap.Separator)
}
