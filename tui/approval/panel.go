package approval

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// expiresSoon is the remaining time at or below which the countdown is shown as an error.
const expiresSoon = 30 * time.Second

// tooSoon is the status message for a key pressed within the grace period.
const tooSoon = "the request is new: press the key again in a moment"

// Panel shows the pending requests, one at a time, and lets the user decide them.
type Panel struct {
	styles  *ui.Styles
	request string // ID of the shown request, or ""
	guard   Guard
	offline bool // decisions wait for the connection
	forms   map[string]*Form

	// Set by View.
	rows     int  // lines of the form that were shown
	allShown bool // all of the form and some of the request were shown
}

// Result is the result of a key press. The owner of the panel carries it out.
type Result struct {
	Leave  bool                  // release the focus
	Focus  bool                  // take the focus
	Status string                // status message to show, or ""
	Push   ui.Overlay            // overlay to open, or nil
	Decide *protocol.ApproveData // send this decision, then call Decided
	Edit   *PatchToEdit          // open this patch in the user's editor
}

// PatchToEdit is a patch to open in the user's editor. Call Done with the edited text.
type PatchToEdit struct {
	Text string
	Done func(text string)
}

// NewPanel returns a panel without requests.
func NewPanel(s *ui.Styles) Panel {
	return Panel{styles: s, forms: map[string]*Form{}}
}

// Update sets the pending requests. live marks new ones as arriving now. Update reports whether it
// switched to another request; the owner must then call Arm.
func (p *Panel) Update(pending []protocol.Approval, now time.Time, live bool) (changed bool) {
	for request := range p.forms {
		if IndexOf(pending, request) < 0 {
			delete(p.forms, request)
		}
	}
	for i := range pending {
		if p.forms[pending[i].Request] == nil {
			f := NewForm(p.styles, &pending[i])
			if live {
				f.arrived = now
			}
			p.forms[pending[i].Request] = f
		}
	}
	if IndexOf(pending, p.request) >= 0 {
		return false
	}
	p.request = ""
	p.guard.armed = false
	if len(pending) > 0 {
		p.request = pending[0].Request
		p.guard.Reset(now)
		return true
	}
	return false
}

// Current returns the shown request and its form, or nil, nil.
func (p *Panel) Current(pending []protocol.Approval) (*protocol.Approval, *Form) {
	i := IndexOf(pending, p.request)
	if i < 0 {
		return nil, nil
	}
	return &pending[i], p.forms[p.request]
}

// IndexOf returns the index of a request ID, or -1.
func IndexOf(pending []protocol.Approval, request string) int {
	return slices.IndexFunc(pending, func(a protocol.Approval) bool { return a.Request == request })
}

// cycle shows the request by places after the shown one, cyclically.
func (p *Panel) cycle(pending []protocol.Approval, by int) {
	if n := len(pending); n > 0 {
		p.request = pending[(IndexOf(pending, p.request)+by+n)%n].Request
	}
}

// Press handles a key while the panel has the focus.
func (p *Panel) Press(pending []protocol.Approval, key string) Result {
	r, f := p.Current(pending)
	action := p.styles.Keys.InList(keymap.Approval, key)
	if action == keymap.Back || r == nil {
		return Result{Leave: true}
	}
	switch action {
	case keymap.ViewRequest:
		return Result{Push: NewRequestPager(p.styles, f.editedRequest(r))}
	case keymap.PreviousRequest:
		p.cycle(pending, -1)
		return Result{}
	case keymap.NextRequest:
		p.cycle(pending, 1)
		return Result{}
	}
	if !p.guard.Armed() {
		if action != keymap.Up && action != keymap.Down {
			return Result{Status: tooSoon}
		}
		return Result{}
	}
	if f.sending != "" {
		return Result{}
	}
	f.err = ""
	switch action {
	case keymap.Up:
		f.move(-1)
	case keymap.Down:
		f.move(1)
	case keymap.WriteReason:
		f.editReason()
	case keymap.EditRequest:
		return p.startEdit(r, f)
	case keymap.Choose:
		if p.rows == 0 {
			return Result{Status: "the window is too small to decide here"}
		}
		if o := f.enter(); o != nil {
			return p.decide(r, f, o)
		}
	default:
		if o := f.optionByNumber(key); o != nil {
			return p.pressNumber(r, f, o)
		}
	}
	return Result{}
}

// PressNumber handles the digit key of an option while the panel does not have the focus. handled
// is false for any other key.
func (p *Panel) PressNumber(pending []protocol.Approval, key string) (result Result, handled bool) {
	r, f := p.Current(pending)
	if r == nil {
		return Result{}, false
	}
	o := f.optionByNumber(key)
	if o == nil {
		return Result{}, false
	}
	return p.pressNumber(r, f, o), true
}

// pressNumber decides unless the guard blocks it. If the last View did not have room for the whole
// form, it only selects the option, so that the user never decides unseen.
func (p *Panel) pressNumber(r *protocol.Approval, f *Form, o *decisionOption) Result {
	switch {
	case !p.guard.Armed():
		return Result{Status: tooSoon}
	case p.allShown:
		return p.decide(r, f, o)
	}
	f.selectOption(o)
	return Result{Focus: true, Status: p.styles.Keys.Hint(keymap.Choose, "decides")}
}

// decide returns the decision to send. It returns an empty result while another one is being sent.
func (p *Panel) decide(r *protocol.Approval, f *Form, o *decisionOption) Result {
	if f.sending != "" {
		return Result{}
	}
	data, ok := f.beginOption(r.Request, o)
	if !ok {
		return Result{}
	}
	return Result{Decide: &data}
}

// Decided records the response to a decision. message is the error message, or "" if the decision
// was accepted.
func (p *Panel) Decided(request, message string) {
	if f := p.forms[request]; f != nil {
		f.sending = ""
		if message != "" {
			f.err = message
		}
	}
}

// Sending reports whether a decision on a request is being sent from this panel. known is false if
// the request is not pending.
func (p *Panel) Sending(request string) (sending, known bool) {
	f := p.forms[request]
	return f != nil && f.sending != "", f != nil
}

// startEdit edits the title of the selected task, or opens the patch in the user's editor.
func (p *Panel) startEdit(r *protocol.Approval, f *Form) Result {
	switch row := f.rows[f.selected]; {
	case row.kind == rowTask:
		f.startEdit(f.plan.title(row.index))
		return Result{}
	case r.Patch != "" && !r.Editable:
		return Result{Status: "this agent takes no edited patch: deny with a reason instead"}
	case r.Patch != "":
		request, patch := r.Request, r.Patch
		return Result{Edit: &PatchToEdit{f.currentPatch(r), func(text string) {
			if f := p.forms[request]; f != nil {
				f.setPatch(patch, text)
			}
		}}}
	case len(r.Tasks) > 0:
		return Result{Status: "select a task to edit it"}
	}
	return Result{Status: "this request has nothing to edit"}
}

// title returns the current title of task i.
func (p *planEdit) title(i int) string {
	t := &p.tasks[i]
	if title := p.titles[t.ID]; title != "" {
		return title
	}
	return t.Title
}

// editable reports whether the user can change a request before allowing it.
func editable(r *protocol.Approval) bool { return r.Editable && r.Patch != "" || len(r.Tasks) > 0 }

// Typing reports whether a text row of the shown request is being edited.
func (p *Panel) Typing(pending []protocol.Approval) bool {
	_, f := p.Current(pending)
	return f != nil && f.Typing()
}

// PressTyping handles a key while a text row is edited.
func (p *Panel) PressTyping(pending []protocol.Approval, msg tea.KeyPressMsg) {
	if _, f := p.Current(pending); f != nil && f.Typing() {
		f.pressTyping(msg)
	}
}

// Paste inserts text into the edited text row, if any.
func (p *Panel) Paste(pending []protocol.Approval, text string) {
	if _, f := p.Current(pending); f != nil && f.Typing() {
		ui.PasteText(f.input, text)
	}
}

// View returns at most rows lines, and the cursor while a text row is edited. The selected row of
// the form is always visible.
func (p *Panel) View(
	pending []protocol.Approval, now time.Time, width, rows int, focused bool,
) ([]string, *tea.Cursor) {
	p.rows, p.allShown = 0, false
	r, f := p.Current(pending)
	if r == nil || rows < 1 {
		return nil, nil
	}
	title := p.title(pending, r, f, now) + p.styles.Dim.Render(p.hint(r, f, focused, len(pending)))
	form, at := p.formLines(f, width, focused)
	request, hidden := f.RequestLines(f.editedRequest(r), width, rows)
	// The request takes precedence over the options, which have number keys.
	if room := max(rows-1-len(form), rows/2); hidden > 0 || len(request) > room {
		keep := min(len(request), max(0, room-1))
		more := "   … " + ui.Count(hidden+len(request)-keep, "line") + " more"
		if hint := p.styles.Keys.Hint(keymap.ViewRequest, "views all"); hint != "" {
			more += ": " + hint
		}
		request = append(request[:keep:keep], p.styles.Warning.Render(ui.Fit(more, width)))
	}
	total := len(form)
	form, at = ui.Window(form, at, rows-1-len(request))
	p.rows = len(form)
	p.allShown = p.rows == total && len(request) > 0
	if p.allShown && 2+len(request)+len(form) <= rows {
		request = append(request, "") // separates line numbers from option numbers
	}
	out := slices.Concat([]string{p.styles.Rule(title, width)}, request, form)
	out = out[:min(len(out), rows)]
	if !f.Typing() {
		return out, nil
	}
	return out, f.cursor(len(out) - len(form) + at)
}

// title returns the position, kind and times of the shown request.
func (p *Panel) title(pending []protocol.Approval, r *protocol.Approval, f *Form, now time.Time) string {
	out := p.styles.Warning.Render("approval")
	if len(pending) > 1 {
		out += fmt.Sprintf(" %d of %d", IndexOf(pending, r.Request)+1, len(pending))
	}
	out += " · " + ui.OneLine(transcript.Clean(r.Kind)) + p.expiry(r, f, now)
	return out + p.styles.Dim.Render(" · asked "+p.styles.Clock(r.Asked))
}

// formLines returns the form, or the decision being sent, and the first line of the selected row.
func (p *Panel) formLines(f *Form, width int, focused bool) (lines []string, at int) {
	if f.sending == "" {
		lines, at = f.view(width, focused)
	} else {
		sending := "sending: "
		if p.offline {
			sending = "waits for the connection: "
		}
		lines = []string{p.styles.Warning.Render(ui.Fit("   "+sending+f.sending+" …", width))}
	}
	if f.err != "" {
		lines = append(lines, p.styles.Error.Render(ui.Fit("   "+ui.OneLine(transcript.Clean(f.err)), width)))
	}
	return lines, at
}

// expiry returns the remaining time of a request, or "". For a request that arrived live it uses
// only the duration, because the server's clock may differ.
func (p *Panel) expiry(r *protocol.Approval, f *Form, now time.Time) string {
	if r.Expires == nil {
		return ""
	}
	left := r.Expires.Sub(now)
	if !f.arrived.IsZero() {
		left = r.Expires.Sub(r.Asked) - now.Sub(f.arrived)
	}
	switch {
	case left <= 0:
		return p.styles.Error.Render(" · expires now")
	case left <= expiresSoon:
		return p.styles.Error.Render(fmt.Sprintf(" · expires in %ds", ui.Seconds(left)))
	}
	return p.styles.Warning.Render(" · expires in " + ui.Duration(time.Duration(ui.Seconds(left))*time.Second))
}

// hint returns the key hints of the title.
func (p *Panel) hint(r *protocol.Approval, f *Form, focused bool, pending int) string {
	keys := p.styles.Keys
	switch {
	case f.sending != "":
		return ""
	case !p.guard.Armed():
		return " · a moment …"
	case f.Typing():
		return " · enter done · esc discard"
	case !focused && keys.Key(keymap.FocusNext) == "":
		return " · a number"
	case !focused:
		return ui.Prefixed(keymap.Separator, keys.Key(keymap.FocusNext)) + ", or a number"
	}
	pairs := []any{keymap.WriteReason, "reason", keymap.ViewRequest, "view"}
	if editable(r) {
		pairs = append(pairs, keymap.EditRequest, "edit")
	}
	if pending > 1 {
		pairs = append(pairs, keymap.NextRequest, "other")
	}
	return ui.Prefixed(" · ", keys.Hint(pairs...))
}

// Visible reports whether the panel shows a request.
func (p *Panel) Visible() bool { return p.request != "" }

// SetOffline sets whether decisions wait for the connection.
func (p *Panel) SetOffline(offline bool) { p.offline = offline }

// Touch restarts the grace period after a key press; see Guard.Touch.
func (p *Panel) Touch(now time.Time) { p.guard.Touch(now) }

// Arm makes the shown request accept keys after the grace period; see Guard.Arm.
func (p *Panel) Arm(now time.Time, after func(time.Duration, tea.Msg) tea.Cmd) (cmd tea.Cmd, armed bool) {
	if p.request == "" {
		return nil, false
	}
	return p.guard.Arm(now, after)
}
